import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clock } from '../../tools/clock.ts';
import { abortResponse } from './abort-response.ts';

/** Socket with the response that Node is sending or expects next. */
export type HttpSocket = Socket & {
  /** `_last`: Node closes the connection after this response. */
  readonly _httpMessage?: (ServerResponse & { _last?: boolean }) | null;
};

/** Maximum milliseconds between two searches for connections that are kept too long. */
const KEPT_CHECK_MS = 5000;

/** Milliseconds without output after which a half-closed connection is closed. */
const HALF_OPEN_TIMEOUT_MS = 5000;

/**
 * Limits half-open connections. A half-closed client may still be reading or may be gone; only a write reveals which.
 * Writes are executed and answered either way; reads are aborted when they have no output.
 */
export function limitHalfOpen(socket: HttpSocket, timeoutMs = HALF_OPEN_TIMEOUT_MS): void {
  socket.once('end', () => {
    if (!socket._httpMessage) return; // Node ends it
    let written = socket.bytesWritten;
    const timer = clock
      .setInterval(() => {
        const isSilent = socket.bytesWritten === written && socket.writableLength === 0;
        if (isSilent && isReading(socket._httpMessage)) abortResponse(socket._httpMessage);
        if (socket.destroyed) clock.clearInterval(timer);
        written = socket.bytesWritten;
      }, timeoutMs)
      .unref();
  });
}

/**
 * Closes an idle connection unless it waits for this side to continue the request or to read more of the body. The
 * reader of the body limits the pauses of the sender.
 */
export function closeIdle(socket: HttpSocket): void {
  if (!socket._httpMessage) socket.destroy();
  else if (socket.writableLength > 0) abortResponse(socket._httpMessage);
}

/**
 * Closes connections that have had an answer and on which no whole request arrives within `limitMs`. Node's own timeout
 * begins again with every byte, such as an empty line. Returns the timer.
 */
export function closeKeptTooLong(
  connections: ReadonlySet<HttpSocket>,
  answeredAt: WeakMap<Socket, number>,
  limitMs: number,
): NodeJS.Timeout {
  const check = (): void => {
    const before = clock.monotonic() - limitMs;
    for (const socket of connections) {
      const at = answeredAt.get(socket);
      if (!socket._httpMessage && at !== undefined && at < before) socket.destroy();
    }
  };
  return clock.setInterval(check, Math.min(KEPT_CHECK_MS, limitMs)).unref();
}

function isReading(answer: ServerResponse | null | undefined): answer is ServerResponse {
  return answer?.req.method === 'GET' || answer?.req.method === 'HEAD';
}
