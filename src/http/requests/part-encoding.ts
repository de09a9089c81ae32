import { badRequest, quoted, SwordError } from '../../sword/sword-error.ts';
import type { Part } from './multipart.ts';

/** Returns the content of a part of a multipart body, with its `Content-Transfer-Encoding` (RFC 2045) decoded. */
export function contentOf({ headers, body }: Part): AsyncIterable<Uint8Array> {
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  if (/^(?:binary|8bit|7bit)$/i.test(encoding)) return body;
  if (/^base64$/i.test(encoding)) return fromBase64(body);
  const text = `Content-Transfer-Encoding ${quoted(encoding)} is not accepted: send the bytes as they are, or base64.`;
  throw new SwordError('ErrorContent', text);
}

/** Like {@link contentOf}, for an archive: also detects base64, which a client library sends undeclared. */
export function archiveOf(part: Part, isArchive: (head: Uint8Array) => boolean): AsyncIterable<Uint8Array> {
  const isDeclared = part.headers.has('content-transfer-encoding');
  return isDeclared ? contentOf(part) : decodeIfBase64(part.body, isArchive);
}

/** Returns the bytes of an entry, decoded if they are undeclared base64 of XML, which has `<`; none if they are blank. */
export function entryBytes(bytes: Buffer): Buffer {
  if (/[^A-Za-z0-9+/=\s]/.test(bytes.toString('latin1', 0, 100))) return bytes;
  const digits = bytes.toString('latin1').replace(/\s+/g, ''); // with whitespace, the next pattern would take minutes
  const decoded = /^[A-Za-z0-9+/]*={0,2}$/.test(digits) ? Buffer.from(digits, 'base64') : bytes;
  return digits === '' || decoded.includes('<') ? decoded : bytes;
}

/** Number of bytes of base64 in which the archive format is detected, line breaks included. */
const HEAD_DIGITS = 1024;

/**
 * Decodes a body if it begins with the base64 of an archive. No archive consists of base64 digits alone: a tar has
 * zeros, the others have binary bytes.
 */
async function* decodeIfBase64(
  body: AsyncIterable<Uint8Array>,
  isArchive: (head: Uint8Array) => boolean,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    let head = Buffer.alloc(0);
    while (head.length < HEAD_DIGITS) {
      const next = await chunks.next();
      if (next.done) break;
      head = Buffer.concat([head, next.value]);
    }
    const whole = prependChunk(head, chunks);
    const decoded = decodedHead(head);
    yield* decoded && isArchive(decoded) ? fromBase64(whole) : whole;
  } finally {
    await chunks.return?.();
  }
}

/** Returns the first bytes of what the digits encode; `undefined` if they are not base64. */
function decodedHead(head: Buffer): Uint8Array | undefined {
  const digits = head.toString('latin1', 0, HEAD_DIGITS).replace(/[\r\n]+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return undefined;
  return Buffer.from(digits, 'base64').subarray(0, 512);
}

async function* prependChunk(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* fromBase64(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [pending, padded] = ['', false];
  for await (const chunk of body) {
    const digits =
      pending +
      Buffer.from(chunk)
        .toString('latin1')
        .replace(/[\r\n\t ]+/g, '');
    const whole = digits.slice(0, digits.length - (digits.length % 4));
    pending = digits.slice(whole.length);
    if (whole === '') continue;
    if (padded || !/^[A-Za-z0-9+/]+={0,2}$/.test(whole)) throw notBase64();
    padded = whole.endsWith('=');
    yield Buffer.from(whole, 'base64');
  }
  if (pending !== '') throw notBase64();
}

function notBase64(): SwordError {
  return badRequest('A part of the multipart body is not valid base64.');
}
