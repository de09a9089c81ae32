/** Puts one large object into the folder, prints a line and ends by itself, without closing the store. */
import { writeSync } from 'node:fs';
import { FilesystemObjectStore } from '../../../src/object-store/filesystem/filesystem-object-store.ts';
import { inChunks, newBody } from '../bodies.ts';

const store = await FilesystemObjectStore.open({ folder: String(process.argv[2]) });
await store.put(inChunks(newBody(300_000)));
writeSync(1, 'done\n');
