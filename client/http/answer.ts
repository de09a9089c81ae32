import type { IncomingMessage } from 'node:http';
import { UnreadableAnswer } from '../documents/xml-tree.ts';
import { Lost } from './exchange.ts';

/** An answer with its whole body. */
export type Answer = {
  /** Method and IRI of the request. */
  readonly method: string;
  readonly iri: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** Maximum bytes of a document; documents are small. */
const MAX_BYTES = 8 * 1024 ** 2;

/** @throws {Lost} the connection ended before the end of the body. */
export async function readAnswer(message: IncomingMessage, method: string, iri: string): Promise<Answer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > MAX_BYTES)
        throw new UnreadableAnswer(`The response from ${iri} is longer than ${MAX_BYTES} bytes.`);
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof UnreadableAnswer ? error : new Lost(error as NodeJS.ErrnoException, true);
  }
  const headers = headersOf(message);
  return { method, iri, status: message.statusCode ?? 0, headers, body: Buffer.concat(pieces, length) };
}

/** Returns one value per name; names in lower case. */
export function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}
