import { random } from '../../src/tools/random.ts';
import { bytesBody, joinedBody } from './bodies.ts';
import type { Body } from './exchange.ts';

export type Part = { readonly headers: Readonly<Record<string, string>>; readonly body: Body };

/** Returns `multipart/form-data` with these parts in their order. */
export function multipart(parts: readonly Part[]): { readonly contentType: string; readonly body: Body } {
  const boundary = `deposit-${random.uuid()}`;
  const pieces = parts.flatMap(({ headers, body }) => [
    text(`--${boundary}\r\n${headerLines(headers)}\r\n`),
    body,
    text('\r\n'),
  ]);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: joinedBody([...pieces, text(`--${boundary}--\r\n`)]),
  };
}

function text(content: string): Body {
  return bytesBody(Buffer.from(content));
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
