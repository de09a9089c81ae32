/** Runs with a limit of 1 MiB per file: puts a large object, then small ones until one is refused. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { FilesystemObjectStore } from '../../../src/object-store/filesystem/filesystem-object-store.ts';
import { ObjectStoreUnavailable } from '../../../src/object-store/object-store.ts';
import { bytesOf, inChunks, newBody, sha256Of } from '../bodies.ts';

const folder = String(process.argv[2]);
await using store = await FilesystemObjectStore.open({ folder });

const body = newBody(5_000_000);
const large = await refusal(body);
let refused = newBody(60_000);
let small = await refusal(refused);
for (let put = 0; put < 1000 && small === undefined; put += 1) {
  refused = newBody(60_000);
  small = await refusal(refused);
}
const incoming = (await readdir(path.join(folder, 'incoming'))).length;
let damaged = 0;
for await (const { sha256 } of store.list()) {
  if (sha256Of(await bytesOf(store, sha256)) !== sha256) damaged += 1;
}
const largeThere = (await store.stat(sha256Of(body))) !== undefined;
const refusedThere = (await store.stat(sha256Of(refused))) !== undefined;
console.log(JSON.stringify({ large, small, incoming, damaged, largeThere, refusedThere }));

async function refusal(bytes: Uint8Array) {
  try {
    await store.put(inChunks(bytes));
    return undefined;
  } catch (error) {
    if (!(error instanceof ObjectStoreUnavailable)) throw error;
    const { cause } = error;
    return [error.code, cause instanceof Error && 'code' in cause ? cause.code : undefined];
  }
}
