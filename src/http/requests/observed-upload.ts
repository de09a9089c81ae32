import { ContentMismatch } from '../../object-store/object-store.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { EndedUpload, HttpObserver } from '../http-observer.ts';
import { isClientGone } from './request-body.ts';

/** Reports to the observer how receiving a body went: the bytes accepted, the duration and the outcome. */
export async function observeUpload<Stored>(
  body: AsyncIterable<Uint8Array>,
  observer: HttpObserver,
  receive: (body: AsyncIterable<Uint8Array>) => Promise<Stored>,
): Promise<Stored> {
  const started = clock.monotonic();
  let bytes = 0;
  async function* countBytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  let outcome: EndedUpload['outcome'] = 'stored';
  try {
    return await receive(countBytes());
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    observer.uploaded({ outcome, bytes, seconds: (clock.monotonic() - started) / 1000 });
  }
}

function outcomeOf(error: unknown): EndedUpload['outcome'] {
  if (isClientGone(error)) return 'broken_off';
  const isRefusal = error instanceof SwordError && error.code !== 'ServiceUnavailable';
  return isRefusal || error instanceof ContentMismatch ? 'refused' : 'failed';
}
