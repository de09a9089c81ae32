import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { clock } from '../../tools/clock.ts';

/** With the answer that is being sent or waited for, which Node keeps there. */
export type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/** What comes after its sender was refused is taken up to here, so that he gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 ** 2;
const DRAIN_TIME = 30_000;

/** So long, in milliseconds, nothing has to be told to who has said that nothing more comes from him. */
const SILENCE = 5000;

/**
 * Once the answer is sent, what is left of the request is read and dropped within bounds: closing at once
 * would reset the connection under a client that is still sending, and it would never see the answer.
 */
export function boundDraining(req: IncomingMessage, res: ServerResponse): void {
  if (!mayHaveBody(req)) return;
  const { socket } = req;
  let last = false;
  // What Node calls after the last answer of a connection, such as one that was asked to close.
  socket.destroySoon = () => {
    if (req.complete) Socket.prototype.destroySoon.call(socket);
    else {
      last = true;
      socket.end();
    }
  };
  res.once('finish', () => {
    if (req.complete) return;
    boundDropping(
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

/** Cuts off who sends too much, or for too long, before it is over. */
export function boundDropping(socket: Socket, isOver: () => boolean, whenOver?: () => void): void {
  const [start, deadline] = [socket.bytesRead, clock.monotonic() + DRAIN_TIME];
  const timer = clock
    .setInterval(() => {
      const isOutOfBounds = socket.bytesRead - start > DRAIN_BYTES || clock.monotonic() > deadline;
      if (isOutOfBounds) socket.destroy();
      else if (isOver()) whenOver?.();
      if (isOutOfBounds || socket.destroyed || isOver()) clock.clearInterval(timer);
    }, 100)
    .unref();
}

/**
 * Whoever says that nothing more comes from him waits for his answers, or has gone: only writing to him would tell. What
 * changes something is carried out and answered either way; what only reads is given up when it has nothing to write.
 */
export function boundHalfOpen(socket: HttpSocket, silence = SILENCE): void {
  socket.once('end', () => {
    if (!socket._httpMessage) return; // Node ends it
    let written = socket.bytesWritten;
    const timer = clock
      .setInterval(() => {
        const isSilent = socket.bytesWritten === written && socket.writableLength === 0;
        if (isSilent && isReading(socket._httpMessage)) breakOff(socket._httpMessage);
        if (socket.destroyed) clock.clearInterval(timer);
        written = socket.bytesWritten;
      }, silence)
      .unref();
  });
}

/**
 * Ends the connection so that what was sent of the answer is not taken for all of it: in HTTP/1.0, which proxies speak,
 * too, the end of the connection is that of the answer. That over TLS its last record is missing they pass over.
 */
export function breakOff({ req, socket }: ServerResponse): void {
  if (req.httpVersion === '1.0') beneath(socket)?.resetAndDestroy();
  else socket?.destroy();
}

/** What Node keeps beneath TLS; else the connection itself. */
function beneath(socket: (Socket & { readonly _parent?: Socket | null }) | null): Socket | null {
  return socket?._parent ?? socket;
}

/**
 * For a connection on which nothing has moved for long: whoever waits for this side to go on with his request, or to take
 * more of its body, is let wait. How long a sender may pause is for whoever reads the body.
 */
export function closeIdle(socket: HttpSocket): void {
  if (!socket._httpMessage) socket.destroy();
  else if (socket.writableLength > 0) breakOff(socket._httpMessage);
}

function isReading(answer: ServerResponse | null | undefined): answer is ServerResponse {
  return answer?.req.method === 'GET' || answer?.req.method === 'HEAD';
}
