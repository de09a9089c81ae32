import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { StoredKey } from '../../client/deposit/stored-key.ts';
import type { Collection } from '../../client/documents/service-document.ts';

test('processes that start a command over at the same time, or end it, have one key', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'requests-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  process.env['XDG_CONFIG_HOME'] = home;
  const options = {
    collection: { iri: 'https://deposit.example/', recognisesRepeats: true } as Collection,
    user: 'alice',
    slug: undefined,
    deposit: undefined,
    note: t.fail,
  };
  const [first, second] = [new StoredKey([], options), new StoredKey([], options)];
  first.renew();
  second.renew();
  t.is(second.of('creation'), first.of('creation'));
  second.forget();
  const later = new StoredKey([], options);
  t.not(later.of('creation'), first.of('creation'));
  first.forget();
  t.is(new StoredKey([], options).of('creation'), later.of('creation'));
});
