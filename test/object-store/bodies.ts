import { createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { ListedObject, ObjectStore } from '../../src/object-store/object-store.ts';

/** Returns a random body. */
export function newBody(length: number): Buffer {
  return randomBytes(length);
}

export async function* inChunks(body: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < body.byteLength; start += size) yield body.subarray(start, start + size);
}

/** Throws after this number of bytes, like a client whose connection breaks. */
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

export async function bytesOf(store: ObjectStore, sha256: string): Promise<Buffer> {
  const { body } = await store.get(sha256);
  return Buffer.concat(await body.toArray());
}

export async function listOf(store: ObjectStore): Promise<ListedObject[]> {
  return Array.fromAsync(store.list());
}

/** Returns the bytes in buffers that are still referenced. */
export function heldBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('There is no garbage collection to call.');
  collect();
  collect(); // the memory of the first pass is freed concurrently, until the second one begins
  return process.memoryUsage().arrayBuffers;
}
