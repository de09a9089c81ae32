import { createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { ArchiveStore, ListedObject } from '../../src/archive-store/archive-store.ts';

/** A body nobody put before. */
export function newBody(length: number): Buffer {
  return randomBytes(length);
}

export async function* inChunks(body: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < body.byteLength; start += size) yield body.subarray(start, start + size);
}

/** Gives up after that many bytes, as a client does whose connection breaks. */
export async function* breakingAfter(bytes: number, body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield* inChunks(body.subarray(0, bytes));
  await setImmediate();
  throw new ConnectionLost();
}

export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export function md5Of(body: Uint8Array): string {
  return createHash('md5').update(body).digest('hex');
}

export function sha256Of(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

export async function bytesOf(store: ArchiveStore, sha256: string): Promise<Buffer> {
  const { body } = await store.get(sha256);
  return Buffer.concat(await body.toArray());
}

export async function listOf(store: ArchiveStore): Promise<ListedObject[]> {
  return Array.fromAsync(store.list());
}

/** Bytes in buffers that something still holds. */
export function heldBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('There is no garbage collection to call.');
  collect();
  collect(); // what the first one found is freed at the side, until the second one begins
  return process.memoryUsage().arrayBuffers;
}
