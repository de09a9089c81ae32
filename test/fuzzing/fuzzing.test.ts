import test from 'ava';
import { fuzzArchives } from './fuzz-archives.ts';
import { fuzzSeeds } from './fuzz-seeds.ts';

test('a changed archive is refused with a reason, or has the identifier computed by other readers', async (t) => {
  t.timeout(120_000);
  const report = await fuzzArchives({ mutations: 300, seed: 1 });
  t.deepEqual(report.broken, []);
  t.is(report.accepted + report.refused, 300);
  t.true(report.agreed > 20 && report.refused > 100, JSON.stringify(report));
  t.true(fuzzSeeds.length > 80);
});

test('unchanged archives have the identifier computed by other readers', async (t) => {
  t.timeout(120_000);
  const report = await fuzzArchives({ mutations: 150, seed: 2, changes: false });
  t.deepEqual(report.broken, []);
  t.is(report.refused, 0);
  t.true(report.agreed > 100, JSON.stringify(report));
});
