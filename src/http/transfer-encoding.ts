import { badRequest, quoted, SwordError } from '../sword/sword-error.ts';
import type { Part } from './multipart.ts';

/** What a part of a multipart body holds, its `Content-Transfer-Encoding` (RFC 2045) undone while it comes. */
export function contentOf({ headers, body }: Part): AsyncIterable<Uint8Array> {
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  if (/^(?:binary|8bit|7bit)$/i.test(encoding)) return body;
  if (/^base64$/i.test(encoding)) return fromBase64(body);
  const text = `Content-Transfer-Encoding ${quoted(encoding)} is not accepted: send the bytes as they are, or base64.`;
  throw new SwordError('ErrorContent', text);
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
