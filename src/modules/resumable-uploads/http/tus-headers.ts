import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { headerText } from '../../../sword/headers/raw-header.ts';
import { badRequest, quoted, SwordError } from '../../../sword/sword-error.ts';
import { CHECKSUM_ALGORITHMS, type Checksum } from '../upload.ts';

/** The version of the tus resumable upload protocol. */
export const TUS_VERSION = '1.0.0';
export const OFFSET_TYPE = 'application/offset+octet-stream';

/** @throws {SwordError} 412: the request is of another version, or of none. */
export function assertTusVersion(headers: IncomingHttpHeaders): void {
  const version = headerText(headers['tus-resumable']);
  if (version === TUS_VERSION) return;
  const said = version === undefined ? 'no Tus-Resumable header' : `Tus-Resumable ${quoted(version)}`;
  throw new SwordError(
    'TusVersionNotSupported',
    `The request has ${said}: send Tus-Resumable: ${TUS_VERSION}.`,
    { headers: { 'Tus-Version': TUS_VERSION } },
  );
}

/** Bytes that the upload will have; what cannot be counted is too much for every limit. */
export function parseUploadLength(headers: IncomingHttpHeaders): number {
  if (headers['upload-concat'] !== undefined) {
    throw badRequest('Upload-Concat is not possible here: send one upload after the other, each whole.');
  }
  if (headers['upload-defer-length'] !== undefined) {
    throw badRequest('Upload-Defer-Length is not possible here: send Upload-Length.');
  }
  return wholeNumber(headers, 'Upload-Length');
}

export function parseUploadOffset(headers: IncomingHttpHeaders): number {
  return wholeNumber(headers, 'Upload-Offset');
}

/** `undefined` when none was sent. */
export function parseUploadChecksum(headers: IncomingHttpHeaders): Checksum | undefined {
  const text = headerText(headers['upload-checksum']);
  if (text === undefined) return undefined;
  const [, name, base64 = ''] = /^(\S+) +([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name);
  const digest = Buffer.from(base64, 'base64');
  if (algorithm && digest.length === DIGEST_BYTES[algorithm]) return { algorithm, digest };
  const known = CHECKSUM_ALGORITHMS.join(', ');
  throw badRequest(
    `Upload-Checksum ${quoted(text)} is not possible: send one of ${known} and the digest in base64.`,
  );
}

const DIGEST_BYTES: Readonly<Record<Checksum['algorithm'], number>> = { sha1: 20, sha256: 32, md5: 16 };

/** Returns the values by their keys, without those that are not UTF-8. */
export function parseUploadMetadata(text: string | null): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const keys = new Set<string>();
  for (const pair of text === null ? [] : text.split(',')) {
    const [, key = '', base64 = ''] = PAIR.exec(pair.trim()) ?? [];
    if (key === '' || keys.has(key)) {
      throw badRequest(`Upload-Metadata is malformed at ${quoted(pair)}: send each key once, with base64.`);
    }
    keys.add(key);
    const value = Buffer.from(base64, 'base64');
    if (isUtf8(value)) values.set(key, value.toString('utf8'));
  }
  return values;
}

/** Printable ASCII without blanks and commas, then base64 unless the value is empty; without blanks around it. */
const PAIR = /^([!-+\--~]+)(?: +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?))?$/;

/** @throws {SwordError} 415 */
export function assertOffsetType(headers: IncomingHttpHeaders): void {
  const type = headerText(headers['content-type']) ?? '';
  if (type.split(';', 1)[0]?.trim().toLowerCase() === OFFSET_TYPE) return;
  const text = `The chunks of an upload have the Content-Type ${OFFSET_TYPE}, not ${quoted(type)}.`;
  throw new SwordError('ErrorContent', text);
}

function wholeNumber(headers: IncomingHttpHeaders, name: 'Upload-Length' | 'Upload-Offset'): number {
  const text = headerText(headers[name.toLowerCase()]);
  if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  const said = text === undefined ? 'is missing' : `is ${quoted(text)}`;
  throw badRequest(`${name} ${said}: send a number of bytes.`);
}
