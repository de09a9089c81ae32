import { workerData } from 'node:worker_threads';
import type { ListedObject } from '../../src/object-store/object-store.ts';
import { copyStore } from '../../src/operations/copy/store-copy.ts';

/** Program of a thread: copies a store of this many objects into one that has them all. */
const objects = workerData as number;
const refuse = () => Promise.reject(new Error('No object is to be copied.'));
const store = { list: listed, ready: () => Promise.resolve(), get: refuse, put: refuse };
const copied = await copyStore(store, store, { named: listed(), leftOut: new Set() });
if (copied.objects !== objects) throw new Error(`${copied.objects} objects instead of ${objects}`);

async function* listed(): AsyncGenerator<ListedObject> {
  for (let number = 0; number < objects; number += 1)
    yield { sha256: number.toString(16).padStart(64, '0'), length: 1, storedAt: new Date(0) };
}
