import test from 'ava';
import { PlainLogAudit } from '../../src/event-log/integrity/log-audit.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { copyLog } from '../../src/operations/copy/log-copy.ts';
import { anchorsToCompare } from '../../src/operations/verify/anchor-sources.ts';
import { anchorCheck } from '../../src/operations/verify/checks/anchor.ts';
import { logPass } from '../../src/operations/verify/log-pass.ts';
import { type Finding, Report } from '../../src/operations/verify/report.ts';
import { verifyService } from '../../src/operations/verify/verify-service.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { helloEntry, helloTar } from '../../testing/http/deposit-bodies.ts';
import { enginesFor, useDistributedEngines } from '../../testing/service/engines-under-test.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { configOf } from './audited-service.ts';

useDistributedEngines();

test('a running service on the distributed engines is verified, and its anchors are valid for another engine', async (t) => {
  await using running = await RunningService.start();
  const alice = await running.register('alice', { collections: ['software'] });
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(helloTar)], { type: 'application/x-tar' }), 'hello.tar');
  form.append('atom', new Blob([helloEntry], { type: 'application/atom+xml' }), 'entry.xml');
  const made = await alice.post('/1/software/', form, { 'In-Progress': 'false' });
  t.is(made.status, 201, await made.text());
  await alice.waitFor('/1/software/1/status/', 'done');
  const { log } = running.service;
  const config = { ...configOf(running.folder), ...(await enginesFor(running.folder)) };
  t.true((await makeAnchor(log, config)).made);

  const found: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => found.push(finding) });
  await verifyService(config, { what: 'all' }, report);
  t.deepEqual(found, []);
  t.like(report.counts, { objects: 4, deposits: 1, anchors: 1 });

  await using copy = new MemoryEventLog();
  await copyLog(log, copy);
  const audit = new PlainLogAudit(copy);
  const moved = new Report({ limit: 100, onFinding: (finding) => found.push(finding) });
  const anchors = await anchorsToCompare(audit, { file: config.anchorFile ?? '', keys: [] }, moved);
  await logPass(moved, audit.events(), [anchorCheck(moved, anchors)]);
  t.deepEqual([found, moved.counts.anchors], [[], 1]);
});
