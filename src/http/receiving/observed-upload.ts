import { BrokenPromise } from '../../archive-store/archive-store.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { EndedUpload, HttpObserver } from '../http-observer.ts';
import { isClientGone } from './request-body.ts';

/** Tells the observer how receiving a body went: how many bytes were taken, how long it took and how it ended. */
export async function observedUpload<Stored>(
  body: AsyncIterable<Uint8Array>,
  observer: HttpObserver,
  receive: (body: AsyncIterable<Uint8Array>) => Promise<Stored>,
): Promise<Stored> {
  const started = clock.monotonic();
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      bytes += piece.length;
      yield piece;
    }
  }
  let outcome: EndedUpload['outcome'] = 'stored';
  try {
    return await receive(counted());
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    observer.uploaded({ outcome, bytes, seconds: (clock.monotonic() - started) / 1000 });
  }
}

function outcomeOf(error: unknown): EndedUpload['outcome'] {
  if (isClientGone(error)) return 'broken_off';
  return error instanceof SwordError || error instanceof BrokenPromise ? 'refused' : 'failed';
}
