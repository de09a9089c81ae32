import { changedPlaces } from './line-difference.ts';

/** Two texts to be compared; the answer is that of `changedPlaces`. */
export type ComparedTexts = { readonly before: string; readonly after: string };

addEventListener('message', ({ data: { before, after } }: MessageEvent<ComparedTexts>) => {
  postMessage(changedPlaces(before, after));
});
