import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Call } from '../../testing/documents/described-service.ts';
import {
  archiveHeaders,
  entryHeaders,
  entryXml,
  helloEntry,
  helloTar,
  helloZip,
} from '../../testing/http/deposit-bodies.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { checksumOf, pieceHeaders, TUS, TusUploads } from '../../testing/http/tus-uploads.ts';
import type { RunningService } from '../../testing/service/running-service.ts';
import type { World } from './openapi-exercises.ts';

export type Sender = Pick<TestClient, 'send'>;

/** An operation, a request that it refuses, the status, and the name of the error. */
export type Refusal = readonly [id: string, call: Call, status: number, name: string];

/** Limits that allow one upload of one client, and none as large of another. */
export const FULL = { maxSize: 1000, perClient: 1, totalSize: 1500, expiry: 3_600_000 };

/** An origin that only a client with a provider URL above it may name. */
const FOREIGN_ORIGIN =
  '<title>A</title><author><name>W</name></author><d:create_origin><d:origin url="https://elsewhere.example/a"/></d:create_origin>';

/** Resolves to requests that are refused for what they say. */
export async function wrongRequests(world: World): Promise<readonly Refusal[]> {
  const { collection } = world;
  const partial = { collection, deposit: await world.partial() };
  const done = { collection, deposit: world.done.deposit };
  const upload = { collection, upload: await world.upload() };
  const entry = { headers: entryHeaders(), body: helloEntry };
  const zip = { headers: archiveHeaders(), body: helloZip };
  const withHeaders = <One extends Call>(call: One, headers: Record<string, string>) => {
    return { ...call, headers: { ...call.headers, ...headers } };
  };
  return [
    ['listDeposits', { path: { collection }, query: { page: '0' } }, 400, 'ErrorBadRequest'],
    [
      'createDeposit',
      { path: { collection }, ...withHeaders(entry, { 'In-Progress': 'perhaps' }) },
      400,
      'ErrorBadRequest',
    ],
    [
      'createDeposit',
      { path: { collection }, ...withHeaders(zip, { 'Content-MD5': '0'.repeat(32) }) },
      412,
      'ErrorChecksumMismatch',
    ],
    [
      'createDeposit',
      { path: { collection }, ...withHeaders(zip, { 'On-Behalf-Of': 'bob' }) },
      412,
      'MediationNotAllowed',
    ],
    [
      'createDeposit',
      { path: { collection }, ...withHeaders(zip, { 'Content-Type': 'image/png' }) },
      415,
      'ErrorContent',
    ],
    [
      'createDeposit',
      { path: { collection }, ...entry, body: Buffer.alloc(1_048_577, 32) },
      413,
      'MaxUploadSizeExceeded',
    ],
    [
      'createDeposit',
      { path: { collection }, headers: { Upload: upload.upload, ...archiveHeaders() } },
      409,
      'Conflict',
    ],
    ['createDeposit', { path: { collection }, ...entry, body: entryXml(FOREIGN_ORIGIN) }, 403, 'Forbidden'],
    ['addMetadata', { path: done, ...entry }, 405, 'MethodNotAllowed'],
    [
      'addMetadata',
      { path: partial, ...withHeaders(entry, { 'If-Match': '"1-99"' }) },
      412,
      'ETagNotMatched',
    ],
    ['deleteDeposit', { path: done }, 405, 'MethodNotAllowed'],
    ['addArchive', { path: done, ...zip }, 405, 'MethodNotAllowed'],
    ['getArchives', { path: done, headers: { 'Accept-Packaging': 'urn:x' } }, 406, 'ErrorContent'],
    ['getArchive', { path: { ...done, file: 2 } }, 404, 'NotFound'],
    ['getArchives', { path: done, headers: { Range: 'bytes=999999999-' } }, 416, 'RangeNotSatisfiable'],
    [
      'getArchive',
      { path: { ...done, file: 1 }, headers: { Range: 'bytes=999999999-' } },
      416,
      'RangeNotSatisfiable',
    ],
    ...[
      'getReceipt',
      'getArchives',
      'getMediaFeed',
      'getStatus',
      'getContent',
      'getStatement',
      'getStatementRdf',
      'getHistory',
    ].map((id): Refusal => [id, { path: done, headers: { 'If-Match': '"1-99"' } }, 412, 'ETagNotMatched']),
    ['getArchive', { path: { ...done, file: 1 }, headers: { 'If-Match': '"1-99"' } }, 412, 'ETagNotMatched'],
    ['followDeposit', { path: done, headers: { 'Last-Event-ID': 'x' } }, 400, 'ErrorBadRequest'],
    ['getHistory', { path: done, query: { from: 'x' } }, 400, 'ErrorBadRequest'],
    ['resolveIdentifier', { path: { swhid: 'swh:1:dir:0' } }, 400, 'ErrorBadRequest'],
    ['beginUpload', { path: { collection } }, 412, 'TusVersionNotSupported'],
    [
      'continueUpload',
      { path: upload, headers: { ...TUS, 'Upload-Offset': '0' }, body: 'x' },
      415,
      'ErrorContent',
    ],
    ['continueUpload', { path: upload, headers: pieceHeaders(1), body: 'x' }, 409, 'Conflict'],
    [
      'continueUpload',
      { path: upload, headers: pieceHeaders(0), body: Buffer.alloc(helloTar.length + 1) },
      413,
      'MaxUploadSizeExceeded',
    ],
    [
      'continueUpload',
      { path: upload, headers: { ...pieceHeaders(0), ...checksumOf('sha1', Buffer.from('y')) }, body: 'x' },
      460,
      'UploadChecksumMismatch',
    ],
  ];
}

/** Returns a client that sends each chunk to an upload of 1,000 bytes to which another request adds at that moment. */
export function duringWrites(client: TestClient): Sender {
  const uploads = new TusUploads(client);
  return {
    send: async (method, _target, init) => {
      for (;;) {
        const upload = await uploads.begin(1000);
        using writer = await beginWrite(client, new URL(upload));
        // The upload is locked once the writer has begun, unless it stalls on a slow machine: then its connection ends.
        while (!writer.ended) {
          const answer = await client.send(method, upload, init);
          if (answer.status === 423) return answer;
        }
        await uploads.delete(upload);
      }
    },
  };
}

async function beginWrite(client: TestClient, upload: URL): Promise<RawConnection> {
  const connection = await RawConnection.to(upload.origin);
  const headers = { ...pieceHeaders(0), 'Content-Length': 1000 };
  await connection.send(`${requestHead(`PATCH ${upload.pathname}`, client, headers)}a`);
  return connection;
}

/** Alters all small archives of a service without changing its records. */
export function damageArchives({ folder }: RunningService): void {
  using rows = new DatabaseSync(path.join(folder, 'archives', 'small.sqlite'));
  rows.exec("UPDATE small_object SET bytes = x'5858'");
}

/** Begins a request, and waits for the answer without completing its headers. */
export function sendHalfAHead(url: string): Promise<Response> {
  return answerTo(url, 'GET / HTTP/1.1\r\nHost: x\r\n');
}

/** Sends a request in another major version of HTTP. */
export function sendOtherVersion(url: string): Promise<Response> {
  return answerTo(url, 'GET / HTTP/2.0\r\nHost: x\r\n\r\n');
}

async function answerTo(url: string, bytes: string): Promise<Response> {
  using connection = await RawConnection.to(url);
  await connection.send(bytes);
  const { status, head, body } = await connection.answers(1);
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ', 2) as [string, string]);
  return new Response(body, { status, headers });
}
