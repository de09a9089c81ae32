import test from 'ava';
import { objectsReferenced } from '../../src/deposits/objects-in-log.ts';
import { zipOf } from '../../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { RunningService } from '../../testing/service/running-service.ts';

const PAN = zipOf([{ name: 'pan', data: 'a file' }]);
const BELOW_PAN = zipOf([{ name: 'pan/x', data: 'below a file' }]);
const POT = zipOf([{ name: 'pot', data: 'another file' }]);

for (const [what, second, outcome] of [
  ['is verified', POT, 'done'],
  ['is rejected for one of its archives', POT.subarray(0, -5), 'rejected'],
  ['is rejected since its archives do not fit together', BELOW_PAN, 'rejected'],
] as const) {
  test(`for a deposit that ${what} the store has exactly the objects named by events`, async (t) => {
    await using service = await RunningService.start();
    const alice = await service.register('alice', { collections: ['software'] });
    const first = formOf([archivePart(PAN, 'pan.zip'), entryPart()]);
    t.is((await alice.post('/1/software/', first, { ...formType, ...partial })).status, 201);
    const headers = { ...archiveHeaders('second.zip'), ...final };
    t.is((await alice.post('/1/software/1/media/', second, headers)).status, 201);
    await alice.waitFor('/1/software/1/status/', outcome);
    const { log, store } = service.service;
    const stored = await Array.fromAsync(store.list(), ({ sha256 }) => sha256);
    const named = new Set(await Array.fromAsync(objectsReferenced(log), ({ sha256 }) => sha256));
    t.deepEqual(stored.sort(), [...named].sort());
  });
}
