import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { MinioPlace } from '../../src/archive-store/minio/bucket.ts';
import {
  MinioArchiveStore,
  type MinioArchiveStoreOptions,
} from '../../src/archive-store/minio/minio-archive-store.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { S3Server, type S3ServerOptions } from '../support/s3-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export type Opening = {
  readonly server?: S3Server;
  readonly port?: number;
  readonly timeouts?: MinioArchiveStoreOptions['timeouts'];
  readonly wrong?: Partial<MinioArchiveStoreOptions>;
};

/** Where many tests keep this process busy. */
export const PATIENT = { connect: 60_000, idle: 60_000 };

/** A store of its own on a server of its own, unless there is one. */
export async function openIn(t: ExecutionContext, opening: Opening = {}) {
  const server = opening.server ?? (await serverIn(t));
  const folder = await temporaryFolder(t);
  const { timeouts = PATIENT, wrong, port = server.port } = opening;
  const place = { ...placeAt(server, port), timeouts, ...wrong };
  const store = await MinioArchiveStore.open({ ...place, temporaryFolder: folder });
  t.teardown(() => store[Symbol.asyncDispose]());
  return { store, server, folder, bucket: () => bucketOf(server) };
}

/** A store in that bucket, below a prefix of its own, empty again after the test. */
export async function openBelow(t: ExecutionContext, bucket: MinioPlace) {
  const place = { ...bucket, prefix: `${randomUUID()}/`, timeouts: PATIENT };
  const store = await MinioArchiveStore.open({ ...place, temporaryFolder: await temporaryFolder(t) });
  t.teardown(async () => {
    for await (const { sha256 } of store.list()) await store.remove(sha256);
    await store[Symbol.asyncDispose]();
  });
  return { store, place };
}

export async function openBehindProxy(t: ExecutionContext, opening: Opening = {}) {
  const server = await serverIn(t);
  const proxy = await FaultProxy.start(server.port);
  t.teardown(() => proxy[Symbol.asyncDispose]());
  return { ...(await openIn(t, { ...opening, server, port: proxy.port })), proxy };
}

export async function serverIn(t: ExecutionContext, options: S3ServerOptions = {}): Promise<S3Server> {
  const server = await S3Server.start(options);
  t.teardown(() => server[Symbol.asyncDispose]());
  return server;
}

type ServerPlace = { readonly port: number; readonly accessKey: string; readonly secretKey: string };

export async function serverProcess(t: ExecutionContext): Promise<ServerPlace> {
  const program = path.join(import.meta.dirname, '../support/s3-process.ts');
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
