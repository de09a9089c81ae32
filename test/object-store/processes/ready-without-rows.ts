/** Runs with a limit of 4 KiB per file, which the WAL cannot have: puts a small object, and asks whether the store is ready. */
import { FilesystemObjectStore } from '../../../src/object-store/filesystem/filesystem-object-store.ts';
import { codeOf } from '../../../src/tools/coded-error.ts';
import { inChunks, newBody } from '../bodies.ts';

await using store = await FilesystemObjectStore.open({ folder: String(process.argv[2]) });
const put = await outcomeOf(store.put(inChunks(newBody(1000))));
console.log(JSON.stringify({ put, ready: await outcomeOf(store.ready()) }));

function outcomeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(() => 'done', codeOf);
}
