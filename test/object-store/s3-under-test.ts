import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { MinioPlace } from '../../src/object-store/s3/bucket.ts';
import { type MinioArchiveStoreOptions, S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { FaultProxy } from '../../testing/http/fault-proxy.ts';
import { temporaryFolder as newFolder } from '../../testing/processes/temporary-folder.ts';
import { flipOnDrive } from '../../testing/s3/flip-on-drive.ts';
import { type S3Answer, S3Client, type S3Request } from '../../testing/s3/s3-client.ts';
import { S3Server, type S3ServerOptions } from '../../testing/s3/s3-server.ts';

export type Opening = {
  readonly server?: S3Server;
  readonly port?: number;
  readonly timeouts?: MinioArchiveStoreOptions['timeouts'];
  readonly wrong?: Partial<MinioArchiveStoreOptions>;
};

/** Size of the parts of long bodies, smaller than that of a service so that tests need not send as much. */
const PARTS = { partBytes: 8 * 1024 ** 2 };

/** Time limits for a process that many tests keep busy. */
export const PATIENT = { connect: 60_000, idle: 60_000 };

/** Opens a new store on a new server, unless one is given. */
export async function openIn(t: ExecutionContext, opening: Opening = {}) {
  const server = opening.server ?? (await serverIn(t));
  const folder = await newFolder(t);
  const { timeouts = PATIENT, wrong, port = server.port } = opening;
  const place = { ...placeAt(server, port), timeouts, ...wrong };
  const store = await S3ObjectStore.open({ ...PARTS, ...place, temporaryFolder: folder });
  t.teardown(() => store[Symbol.asyncDispose]());
  return { store, server, folder, bucket: () => bucketOf(server) };
}

/** Opens a store in that bucket, below a new prefix, which is empty again after the test. */
export async function openBelow(t: ExecutionContext, bucket: MinioPlace) {
  const place = { ...bucket, prefix: `${randomUUID()}/`, timeouts: PATIENT };
  const store = await S3ObjectStore.open({ ...PARTS, ...place, temporaryFolder: await newFolder(t) });
  t.teardown(async () => {
    for await (const { sha256 } of store.list()) await store.remove(sha256);
    await store[Symbol.asyncDispose]();
  });
  return { store, place };
}

export async function openBehindProxy(t: ExecutionContext, opening: Opening = {}) {
  const server = opening.server ?? (await serverIn(t));
  const proxy = await FaultProxy.start(server.port);
  t.teardown(() => proxy[Symbol.asyncDispose]());
  return { ...(await openIn(t, { ...opening, server, port: proxy.port })), proxy };
}

export async function serverIn(t: ExecutionContext, options: S3ServerOptions = {}): Promise<S3Server> {
  const server = await S3Server.start(options);
  t.teardown(() => server[Symbol.asyncDispose]());
  return server;
}

/** URL of a real store for tests: `http://key:secret@host:port/bucket`. Some tests leave objects there. */
export const SERVER_URL = process.env['S3_URL'];

/** The folder of its only drive, where tests flip a bit. */
export const SERVER_DRIVE = process.env['S3_DRIVE'];

/** Opens a store with a new bucket behind a proxy, on a real server if the environment names one. */
export async function openAnywhere(t: ExecutionContext, { timeouts = PATIENT }: Opening = {}) {
  const server = SERVER_URL === undefined ? await serverIn(t) : undefined;
  const real = server === undefined ? realPlace(SERVER_URL ?? '') : placeAt(server, server.port);
  const direct = { ...real, bucket: `test-${randomUUID()}` };
  const proxy = await FaultProxy.start(direct.endpoint.port);
  t.teardown(() => proxy[Symbol.asyncDispose]());
  const place = { ...direct, endpoint: { ...direct.endpoint, port: proxy.port } };
  const open = async (at: typeof place) => {
    const temporaryFolder = await newFolder(t);
    const store = await S3ObjectStore.open({ ...PARTS, ...at, timeouts, temporaryFolder });
    t.teardown(() => store[Symbol.asyncDispose]());
    return store;
  };
  const store = await open(place);
  const client = new S3Client(direct);
  const send = (key: string, request: S3Request) =>
    client.send(key === '' ? direct.bucket : `${direct.bucket}/${key}`, request);
  return {
    store,
    proxy,
    place,
    send,
    /** A store that does not use the proxy. */
    direct: await open(direct),
    /** Resolves to all keys, and the uploads in parts to each that is below `incoming/`. */
    keys: async () => keysIn(send),
    /** Flips a bit of an object on the drive, if the tests know the drive. */
    flip: async (key: string) => {
      if (server !== undefined) server.buckets.get(direct.bucket)?.flipped.add(key);
      else if (SERVER_DRIVE === undefined) return t.log('S3_DRIVE is not set');
      else await flipOnDrive(path.join(SERVER_DRIVE, direct.bucket, key));
      return undefined;
    },
  };
}

/** Whether a test can flip bits: a real server has to be on this machine. */
export const CAN_FLIP = SERVER_URL === undefined || SERVER_DRIVE !== undefined;

async function keysIn(send: (key: string, request: S3Request) => Promise<S3Answer>): Promise<string[]> {
  const found = await send('', { query: 'list-type=2&prefix=' });
  const keys = Array.from(found.body.toString().matchAll(/<Key>([^<]+)</g), ([, key = '']) => key);
  const uploads = keys
    .filter((key) => key.startsWith('incoming/'))
    .map(async (key) => {
      const { body } = await send('', { query: `prefix=${encodeURIComponent(key)}&uploads=` });
      return Array.from(body.toString().matchAll(/<UploadId>/g), () => `upload to ${key}`);
    });
  return [...keys, ...(await Promise.all(uploads)).flat()];
}

type ServerPlace = { readonly port: number; readonly accessKey: string; readonly secretKey: string };

export async function serverProcess(t: ExecutionContext): Promise<ServerPlace> {
  const program = path.join(import.meta.dirname, '../../testing/s3/s3-process.ts');
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return JSON.parse(line.toString()) as ServerPlace;
}

type Keys = { readonly accessKey: string; readonly secretKey: string };

export function placeAt({ options: { accessKey, secretKey } }: { readonly options: Keys }, port: number) {
  const endpoint = { host: '127.0.0.1', port, tls: false };
  return { endpoint, bucket: 'archives', region: 'us-east-1', prefix: '', accessKey, secretKey };
}

/** `http://key:secret@host:port/bucket` */
export function realPlace(place: string) {
  const { protocol, hostname, port, pathname, username, password } = new URL(place);
  const tls = protocol === 'https:';
  return {
    endpoint: { host: hostname, port: Number(port) || (tls ? 443 : 80), tls },
    bucket: pathname.slice(1),
    region: 'us-east-1',
    prefix: '',
    accessKey: decodeURIComponent(username),
    secretKey: decodeURIComponent(password),
  };
}

function bucketOf(server: S3Server) {
  const bucket = server.buckets.get('archives');
  if (bucket === undefined) throw new Error('The store has not made its bucket.');
  return bucket;
}

export function keysOf(server: S3Server): string[] {
  return [...bucketOf(server).objects.keys()];
}

export function uploadsOf(server: S3Server): number {
  return bucketOf(server).uploads.size;
}

export function keyOf(sha256: string): string {
  return `v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
}
