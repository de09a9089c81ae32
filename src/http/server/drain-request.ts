import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { clock } from '../../tools/clock.ts';

/** Maximum bytes that are read after a refusal, so that the client can read the response. */
const MAX_DRAIN_BYTES = 64 * 1024 ** 2;
const DRAIN_TIMEOUT_MS = 30_000;

/**
 * Reads and drops the rest of the request, within limits, after the response is sent. Closing immediately would reset
 * the connection of a client that is still sending, which would never see the response.
 */
export function drainWithinLimits(req: IncomingMessage, res: ServerResponse): void {
  if (!mayHaveBody(req)) return;
  const { socket } = req;
  let isLastResponse = false;
  // Called by Node after the last response of a connection, for example after `Connection: close`.
  socket.destroySoon = () => {
    if (req.complete) Socket.prototype.destroySoon.call(socket);
    else {
      isLastResponse = true;
      socket.end();
    }
  };
  res.once('finish', () => {
    if (req.complete) return;
    dropWithinLimits(
      socket,
      () => req.complete,
      () => isLastResponse && socket.destroy(),
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
