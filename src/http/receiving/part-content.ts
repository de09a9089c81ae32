import { sniffFormat } from '../../archives/format.ts';
import { badRequest, quoted, SwordError } from '../../sword/sword-error.ts';
import type { Part } from './multipart.ts';

/** What a part of a multipart body holds, its `Content-Transfer-Encoding` (RFC 2045) undone while it comes. */
export function contentOf({ headers, body }: Part): AsyncIterable<Uint8Array> {
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  if (/^(?:binary|8bit|7bit)$/i.test(encoding)) return body;
  if (/^base64$/i.test(encoding)) return fromBase64(body);
  const text = `Content-Transfer-Encoding ${quoted(encoding)} is not accepted: send the bytes as they are, or base64.`;
  throw new SwordError('ErrorContent', text);
}

/** The same of a part that is an archive: a client library sends it as base64 and does not say so. */
export function archiveOf(part: Part): AsyncIterable<Uint8Array> {
  return part.headers.has('content-transfer-encoding') ? contentOf(part) : unveiled(part.body);
}

/** The same of an entry whose content is all here; no XML consists of the digits of base64 alone. */
export function entryBytes(bytes: Buffer): Buffer {
  if (/[^A-Za-z0-9+/=\s]/.test(bytes.toString('latin1', 0, 100))) return bytes;
  const digits = bytes.toString('latin1').replace(/\s+/g, ''); // with them the next pattern would take minutes
  return /^[A-Za-z0-9+/]*={0,2}$/.test(digits) ? Buffer.from(digits, 'base64') : bytes;
}

/** Base64 of the first bytes, by which an archive is known, and the breaks of its lines. */
const HEAD_DIGITS = 1024;

/** No archive consists of the digits of base64 alone: a tar has zeros, the others have bytes that are no text. */
async function* unveiled(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    let head = Buffer.alloc(0);
    while (head.length < HEAD_DIGITS) {
      const next = await chunks.next();
      if (next.done) break;
      head = Buffer.concat([head, next.value]);
    }
    const whole = following(head, chunks);
    yield* isBase64OfArchive(head) ? fromBase64(whole) : whole;
  } finally {
    await chunks.return?.();
  }
}

function isBase64OfArchive(head: Buffer): boolean {
  const digits = head.toString('latin1', 0, HEAD_DIGITS).replace(/[\r\n]+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return false;
  return sniffFormat(Buffer.from(digits, 'base64').subarray(0, 512)) !== 'unknown';
}

async function* following(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* fromBase64(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [held, padded] = ['', false];
  for await (const chunk of body) {
    const digits =
      held +
      Buffer.from(chunk)
        .toString('latin1')
        .replace(/[\r\n\t ]+/g, '');
    const whole = digits.slice(0, digits.length - (digits.length % 4));
    held = digits.slice(whole.length);
    if (whole === '') continue;
    if (padded || !/^[A-Za-z0-9+/]+={0,2}$/.test(whole)) throw notBase64();
    padded = whole.endsWith('=');
    yield Buffer.from(whole, 'base64');
  }
  if (held !== '') throw notBase64();
}

function notBase64(): SwordError {
  return badRequest(
    'A part of the multipart body is not the base64 that its Content-Transfer-Encoding says.',
  );
}
