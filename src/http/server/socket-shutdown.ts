import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { clock } from '../../tools/clock.ts';

/** Socket with the response that Node is sending or expects next. */
export type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/** Maximum bytes that are read after a refusal, so that the client can read the response. */
const MAX_DRAIN_BYTES = 64 * 1024 ** 2;
const DRAIN_TIMEOUT_MS = 30_000;

/** Maximum milliseconds between two searches for connections that are kept too long. */
const KEPT_CHECK_MS = 5000;

/** Milliseconds without output after which a half-closed connection is closed. */
const HALF_OPEN_TIMEOUT_MS = 5000;

/**
 * Reads and drops the rest of the request, within limits, after the response is sent. Closing immediately would reset
 * the connection of a client that is still sending, which would never see the response.
 */
export function drainWithinLimits(req: IncomingMessage, res: ServerResponse): void {
  if (!mayHaveBody(req)) return;
  const { socket } = req;
  let last = false;
  // Called by Node after the last response of a connection, for example after `Connection: close`.
  socket.destroySoon = () => {
    if (req.complete) Socket.prototype.destroySoon.call(socket);
    else {
      last = true;
      socket.end();
    }
  };
  res.once('finish', () => {
    if (req.complete) return;
    dropWithinLimits(
      socket,
      () => req.complete,
      () => last && socket.destroy(),
    );
    req.resume();
  });
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Closes the connection of a client that sends too many bytes, or for too long, before `isOver`. */
export function dropWithinLimits(socket: Socket, isOver: () => boolean, whenOver?: () => void): void {
  const [start, deadline] = [socket.bytesRead, clock.monotonic() + DRAIN_TIMEOUT_MS];
  const timer = clock
    .setInterval(() => {
      const isOutOfBounds = socket.bytesRead - start > MAX_DRAIN_BYTES || clock.monotonic() > deadline;
      if (isOutOfBounds) socket.destroy();
      else if (isOver()) whenOver?.();
      if (isOutOfBounds || socket.destroyed || isOver()) clock.clearInterval(timer);
    }, 100)
    .unref();
}

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
 * Closes the connection so that the client does not accept a part of the response as the whole. In HTTP/1.0, which
 * proxies also use, the end of the connection ends the response, so the TCP connection is reset. Such proxies ignore a
 * missing end of TLS.
 */
export function abortResponse({ req, socket }: ServerResponse): void {
  if (req.httpVersion === '1.0') rawSocket(socket)?.resetAndDestroy();
  else socket?.destroy();
}

/** Returns the TCP socket that Node holds under TLS, or the connection itself. */
function rawSocket(socket: (Socket & { readonly _parent?: Socket | null }) | null): Socket | null {
  return socket?._parent ?? socket;
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
