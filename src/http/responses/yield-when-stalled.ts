import type { ServerResponse } from 'node:http';
import { clock } from '../../tools/clock.ts';
import { abortResponse } from '../server/abort-response.ts';

/** Milliseconds without a byte sent after which an answer ends if others wait. */
const STALLED_AFTER_MS = 10_000;

/** Checks within that time. */
const CHECKS = 10;

/**
 * Closes the connection of an answer whose client reads nothing, once others wait for what the answer holds. The time is
 * counted in checks, which do not run while the process is stopped or busy. The disposable ends the watch.
 */
export function yieldWhenStalled(
  res: ServerResponse,
  isWanted: () => boolean,
  stalledAfterMs = STALLED_AFTER_MS,
): Disposable {
  let [sent, checksWithoutProgress] = [0, 0];
  const timer = clock
    .setInterval(() => {
      const { socket } = res;
      if (!socket) return;
      const sentNow = socket.bytesWritten - socket.writableLength;
      const isStalled = socket.writableLength > 0 && sentNow === sent;
      checksWithoutProgress = isStalled ? checksWithoutProgress + 1 : 0;
      sent = sentNow;
      if (checksWithoutProgress >= CHECKS && isWanted()) abortResponse(res);
    }, stalledAfterMs / CHECKS)
    .unref();
  return { [Symbol.dispose]: () => clock.clearInterval(timer) };
}
