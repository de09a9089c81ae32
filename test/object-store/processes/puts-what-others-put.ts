/** Puts the same objects as every other process that runs this, and prints their digests in order. */
import { FilesystemObjectStore } from '../../../src/object-store/filesystem/filesystem-object-store.ts';
import { inChunks } from '../bodies.ts';

await using store = await FilesystemObjectStore.open({ folder: String(process.argv[2]) });
const lengths = Array.from({ length: 40 }, (_, step) => step * 4000);
const stored = await Promise.all(lengths.map((length) => store.put(inChunks(Buffer.alloc(length, 'a')))));
console.log(JSON.stringify(stored.map(({ sha256 }) => sha256).sort()));
