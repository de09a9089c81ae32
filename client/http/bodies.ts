import { createReadStream } from 'node:fs';
import { Fault, unreadable } from '../faults.ts';
import type { Body } from './exchange.ts';

export function bytesBody(bytes: Uint8Array): Body {
  return { length: bytes.length, pieces: () => [bytes] };
}

/** Returns a range of a file as a body. A file whose length has changed is not sent to its end. */
export function fileBody({ file, length }: { file: string; length: number }, from = 0, to = length): Body {
  return { length: to - from, pieces: () => filePieces(file, from, to) };
}

/** Concatenates several bodies. */
export function joinedBody(parts: readonly Body[]): Body {
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    pieces: async function* () {
      for (const { pieces } of parts) yield* pieces();
    },
  };
}

async function* filePieces(file: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  if (from === to) return;
  let count = 0;
  const stream = createReadStream(file, { start: from, end: to - 1, highWaterMark: 64 * 1024 });
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      count += piece.length;
      yield piece;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
  if (count < to - from) throw new Fault(`${file} became shorter while it was being sent.`);
}
