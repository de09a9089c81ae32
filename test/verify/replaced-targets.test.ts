import test from 'ava';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { archivePart, entryPart, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { verified } from './audited-service.ts';

const tar = tarOf([
  { name: 'a', data: 'first' },
  { name: 'b', type: '1', linkName: 'a' },
  { name: 'a', data: 'second' },
]);
const body = formOf([archivePart(tar, 'a.tar', 'application/x-tar'), entryPart()]);

test('a deposit that an older release accepted with a replaced target of a hard link verifies', async (t) => {
  const folder = await temporaryFolder(t);
  const archiveLimits = { ...defaultArchiveLimits, rejectAmbiguities: false };
  const older = await RunningService.startIn(folder, { archiveLimits });
  const alice = await older.register('alice', { collections: ['software'] });
  t.is((await alice.post('/1/software/', body, formType)).status, 201);
  t.regex(await alice.waitFor('/1/software/1/status/', 'done', 'rejected'), /<deposit_status>done</);
  await older.stop();
  const { findings, report } = await verified(folder);
  t.deepEqual(findings, []);
  t.is(report.counts.deposits, 1);

  const today = await RunningService.startIn(folder);
  t.teardown(() => today.stop());
  const again = alice.at(today.url);
  t.regex(await (await again.get('/1/software/1/status/')).text(), /<deposit_status>done</);
  t.is((await again.post('/1/software/', body, formType)).status, 201);
  const rejection = await again.waitFor('/1/software/2/status/', 'done', 'rejected');
  t.regex(rejection, /<deposit_status>rejected</);
  t.regex(rejection, /“a” comes again \(duplicate\) after the hard link “b”/);
});
