import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave, secondsOf } from '../frame/interleave.ts';

const [BYTES, AT_ONCE, OBJECTS] = [2048, 64, 3200];

/** Stores 64 objects at a time, each hashed and durable when its promise resolves. */
export const smallObject: Goal = {
  id: 'G6',
  what: `durable ${BYTES}-byte object, ${AT_ONCE} at a time`,
  async measure(bench) {
    const folder = path.join(bench.folder, 'files');
    await mkdir(folder);
    await using store = await FilesystemObjectStore.open({ folder: path.join(bench.folder, 'store') });
    const each = Math.ceil((bench.addedSyncTime > 0 ? OBJECTS / 4 : OBJECTS) / AT_ONCE);
    const found = await interleave(bench, 'G6', {
      store: () => rateOf(each, (bytes) => store.put(chunkOf(bytes))),
      files: () => rateOf(each, (bytes) => writeFileDurably(folder, bytes)),
    });
    return [
      {
        what: 'in process',
        unit: 'objects/s',
        ours: { name: 'archive store', values: found.store },
        reference: { name: 'a file with its fsyncs', values: found.files },
        wanted: atLeast(5),
      },
    ];
  },
};

async function rateOf(each: number, put: (bytes: Uint8Array) => Promise<unknown>): Promise<number> {
  const writer = async (): Promise<void> => {
    for (let turn = 0; turn < each; turn += 1) await put(randomBytes(BYTES));
  };
  const seconds = await secondsOf(() => Promise.all(Array.from({ length: AT_ONCE }, writer)));
  return (each * AT_ONCE) / seconds;
}

async function* chunkOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Writes, syncs and renames the file, and syncs its folder. Does not hash it. */
async function writeFileDurably(folder: string, bytes: Uint8Array): Promise<void> {
  const name = path.join(folder, randomUUID());
  {
    await using file = await open(`${name}.incoming`, 'wx');
    await file.write(bytes);
    await file.datasync();
  }
  await rename(`${name}.incoming`, name);
  await using directory = await open(folder, 'r');
  await directory.sync();
}
