/** Puts one large object into the folder, says so and ends by itself, without closing the store. */
import { writeSync } from 'node:fs';
import { FilesystemArchiveStore } from '../../../src/archive-store/filesystem/filesystem-archive-store.ts';
import { inChunks, newBody } from '../bodies.ts';

const store = await FilesystemArchiveStore.open({ folder: String(process.argv[2]) });
await store.put(inChunks(newBody(300_000)));
writeSync(1, 'done\n');
