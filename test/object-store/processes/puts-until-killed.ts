/** Puts objects of all sizes by four writers at once and prints the digest of each that is acknowledged. */
import { FilesystemObjectStore } from '../../../src/object-store/filesystem/filesystem-object-store.ts';
import { inChunks, newBody } from '../bodies.ts';

const store = await FilesystemObjectStore.open({ folder: String(process.argv[2]) });
await Promise.all([1000, 60_000, 70_000, 400_000].map(putForEver));

async function putForEver(length: number): Promise<never> {
  for (;;) {
    const { sha256 } = await store.put(inChunks(newBody(length)));
    process.stdout.write(`${sha256}\n`);
  }
}
