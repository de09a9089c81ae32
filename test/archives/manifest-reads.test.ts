import test from 'ava';
import { directoryBytes, findEntry, readTreePlan } from '../../src/archives/tree/manifest-reads.ts';
import { ObjectCorrupt } from '../../src/object-store/object-store.ts';
import { directoryMode } from '../../src/swhid/directory.ts';

const [ID, SHA256] = ['a'.repeat(40), 'b'.repeat(64)];
const DAMAGED = `{"version":1}\n{"path":"src" "mode":"${directoryMode}","id":"${ID}"}\n`;
const READS = {
  findEntry: (manifest: AsyncIterable<Uint8Array>) => findEntry(manifest, { kind: 'directory', id: ID }),
  directoryBytes: (manifest: AsyncIterable<Uint8Array>) => directoryBytes(manifest, { path: '', id: ID }),
  readTreePlan: (manifest: AsyncIterable<Uint8Array>) =>
    readTreePlan(manifest, { path: '', archive: SHA256 }),
};

for (const [name, read] of Object.entries(READS)) {
  test(`${name} reports that the manifest is corrupt, not which line of it cannot be decoded`, async (t) => {
    const corrupt = new ObjectCorrupt(SHA256, 'other bytes');
    t.is(await t.throwsAsync(read(piecesOf(DAMAGED, corrupt))), corrupt);
    await t.throwsAsync(read(piecesOf(DAMAGED)), { instanceOf: SyntaxError });
  });
}

/** Yields the bytes, then fails like an object whose bytes turn out to be others. */
async function* piecesOf(text: string, error?: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
  if (error) throw error;
}
