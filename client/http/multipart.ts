import { random } from '../../src/tools/random.ts';
import { bytesBody, joinedBody } from './bodies.ts';
import type { Body } from './exchange.ts';

export type Part = { readonly headers: Readonly<Record<string, string>>; readonly body: Body };

/** The form of a body with an archive and an entry: of HTML, or of SWORD 2.0. */
export type MultipartType = 'form-data' | 'related';

/** Returns `multipart/form-data`, or `multipart/related` whose root is the first part, with these parts in their order. */
export function multipart(
  type: MultipartType,
  parts: readonly Part[],
): { readonly contentType: string; readonly body: Body } {
  const boundary = `deposit-${random.uuid()}`;
  const pieces = parts.flatMap(({ headers, body }) => [
    text(`--${boundary}\r\n${headerLines(headers)}\r\n`),
    body,
    text('\r\n'),
  ]);
  return {
    contentType: `multipart/${type}; boundary="${boundary}"${type === 'related' ? '; type="application/atom+xml"' : ''}`,
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
