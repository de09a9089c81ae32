import { zipOf } from '../../testing/archives/archive-builders.ts';
import { helloEntry } from '../../testing/http/deposit-bodies.ts';
import { AUTHORIZATION, CLIENT } from '../servers/benched-service.ts';
import type { LoadRequest } from './load-job.ts';

const COLLECTION = `/1/${CLIENT.collection}/`;

/** Creates a partial deposit of one archive; the eight digits at its end vary. */
export function archiveCreate(archive: Uint8Array, { md5 = false } = {}): LoadRequest {
  return {
    method: 'POST',
    path: COLLECTION,
    headers: {
      Authorization: AUTHORIZATION,
      'Content-Type': 'application/zip',
      'Content-Disposition': 'attachment; filename=software.zip',
      'In-Progress': 'true',
    },
    body: archive,
    varyAt: [archive.length - 8],
    md5,
    status: 201,
  };
}

/**
 * Creates a complete deposit, which the service will check and load. The name of its only file varies, and the title of
 * its entry: otherwise all deposits would store the same objects, and MinIO stores only one object of a key at a time.
 */
export function completeCreate(): LoadRequest {
  const form = formCreate(zipOf([{ name: `hello/${DIGITS}.py`, data: 'print("hello")\n' }]));
  const part =
    '\r\n--bench\r\nContent-Disposition: form-data; name="atom"; filename="atom.xml"\r\nContent-Type: application/atom+xml\r\n\r\n';
  const titled = helloEntry.replace('<title>', `<title>${DIGITS}`);
  const body = Buffer.from(form.body as Uint8Array);
  const end = body.length - AFTER_PART.length;
  const whole = Buffer.concat([body.subarray(0, end), Buffer.from(part + titled + AFTER_PART)]);
  const headers = { ...form.headers, 'In-Progress': 'false' };
  return { ...form, headers, body: whole, varyAt: offsetsOf(DIGITS, whole) };
}

/** Digits in the place of those that vary. */
const DIGITS = '00000000';

function offsetsOf(text: string, bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) offsets.push(at);
  return offsets;
}

const AFTER_PART = '\r\n--bench--\r\n';

/** Sends the same archive as the only part of a form. */
export function formCreate(archive: Uint8Array): LoadRequest {
  const before =
    '--bench\r\nContent-Disposition: form-data; name="file"; filename="software.zip"\r\nContent-Type: application/zip\r\n\r\n';
  return {
    method: 'POST',
    path: COLLECTION,
    headers: {
      Authorization: AUTHORIZATION,
      'Content-Type': 'multipart/form-data; boundary=bench',
      'In-Progress': 'true',
    },
    body: Buffer.concat([Buffer.from(before), archive, Buffer.from(AFTER_PART)]),
    varyAt: [before.length + archive.length - 8],
    status: 201,
  };
}

/** Gets the status of a deposit, which is answered with 201. */
export function statusGet(deposit: number): LoadRequest {
  return {
    method: 'GET',
    path: `${COLLECTION}${deposit}/status/`,
    headers: { Authorization: AUTHORIZATION },
    status: 201,
  };
}

/** Gets the service document. */
export function serviceDocumentGet(): LoadRequest {
  return {
    method: 'GET',
    path: '/1/servicedocument/',
    headers: { Authorization: AUTHORIZATION },
    status: 200,
  };
}

/** Gets a page of the list of all deposits. */
export function listGet(query: string): LoadRequest {
  return {
    method: 'GET',
    path: `${COLLECTION}${query}`,
    headers: { Authorization: AUTHORIZATION },
    status: 200,
  };
}

/** Returns bytes that begin like a zip and do not compress. */
export function zipLike(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 0x9e3779b9;
  for (let at = 0; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes.writeInt32LE(state, at);
  }
  bytes.write('PK\x03\x04', 'latin1');
  return bytes;
}
