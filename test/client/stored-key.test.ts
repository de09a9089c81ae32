import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoredKey } from '../../client/deposit/stored-key.ts';
import type { Collection } from '../../client/documents/service-document.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const COLLECTION = { iri: 'https://deposit.example/', recognisesRepeats: true } as Collection;

// One after the other: the folder of the keys is named by the environment of the process.
test.serial('processes that start a command over at the same time, or end it, have one key', async (t) => {
  await keysFolder(t);
  const [first, second] = [storedKey(t), storedKey(t)];
  first.renew();
  second.renew();
  t.is(second.of('creation'), first.of('creation'));
  second.forget();
  const later = storedKey(t);
  t.not(later.of('creation'), first.of('creation'));
  first.forget();
  t.is(storedKey(t).of('creation'), later.of('creation'));
});

test.serial(
  'the keys of different commands differ, also if a crash has emptied the files of both',
  async (t) => {
    const folder = await keysFolder(t);
    const keyOf = (slug: string) => storedKey(t, slug).of('creation');
    const keys = [keyOf('one'), keyOf('two')];
    t.deepEqual([keyOf('one'), keyOf('two')], keys);
    for (const name of await readdir(folder)) await writeFile(path.join(folder, name), '');
    t.not(keyOf('one'), keyOf('two'));
  },
);

function storedKey(t: ExecutionContext, slug?: string): StoredKey {
  return new StoredKey([], { collection: COLLECTION, user: 'alice', slug, deposit: undefined, note: t.fail });
}

/** Resolves to the folder of the keys, which is new. */
async function keysFolder(t: ExecutionContext): Promise<string> {
  const home = await temporaryFolder(t);
  process.env['XDG_CONFIG_HOME'] = home;
  return path.join(home, 'sword-deposit', 'requests');
}
