import { type ListedObject, ObjectMissing } from '../../src/object-store/object-store.ts';
import { copyStore } from '../../src/operations/copy/store-copy.ts';

/** Program of a process: copies a store of objects that cannot be read, each with a long reason, and prints the error. */
process.on('SIGXFSZ', () => undefined); // writes over the limit fail like those of a full disk
const get = (sha256: string) => Promise.reject(new ObjectMissing(`${sha256} ${'x'.repeat(100_000)}`));
const store = { list: listed, ready: () => Promise.resolve(), get };
const empty = { list: async function* () {}, get, put: () => get('') };
const outcome = await copyStore(store, empty, { named: listed(), leftOut: new Set() }).catch(
  (error: unknown) => error,
);
const { code, message } = outcome as NodeJS.ErrnoException;
process.stdout.write(`${code}: ${message}`);

async function* listed(): AsyncGenerator<ListedObject> {
  for (let number = 0; number < 1000; number += 1)
    yield { sha256: number.toString(16).padStart(64, '0'), length: 1, storedAt: new Date(0) };
}
