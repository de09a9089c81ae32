import { type Finding, printProgress, runDrill, skipped } from './frame/drill.ts';
import { drilledFolder } from './service/drilled-service.ts';
import { faultsOfAFailedSync } from './system-calls/failed-sync.ts';
import { FAILING_CALLS, type FailingCall } from './system-calls/failing-calls.ts';
import { FailingRun } from './system-calls/failing-run.ts';
import { whyNoStrace } from './system-calls/strace.ts';

const HELP = `Has strace fail the n-th write, sync, rename or mkdir of the log, the archives, the views, the uploads, with EIO and with
ENOSPC, for every n until creates need no more of them; then from the n-th on all of them. A create must be answered
503, or be whole; when the disk works again the service must continue, or have ended with 1 and start again. A failed sync
of the log must never be made good by a later one: what is acknowledged afterwards was rewritten.

  node drills/failing-writes.ts [--only NAME]

--only NAME  one of ${FAILING_CALLS.map(({ name }) => name).join(', ')}
`;

const MOST = 40;

await runDrill(HELP, { only: { type: 'string' } }, async ({ only, short }) => {
  const reason = whyNoStrace();
  if (reason !== undefined) return skipped(reason);
  return drill(
    FAILING_CALLS.filter(({ name }) => only === undefined || name === only),
    short,
  );
});

async function drill(failing: readonly FailingCall[], isShort: boolean): Promise<Finding> {
  await using folder = await drilledFolder('failing');
  await using run = await FailingRun.start(folder.dataDir);
  for (const call of failing) {
    const before = run.failures;
    if (isShort) await run.fail(call, 'EIO', '1');
    else for (const error of ['EIO', 'ENOSPC']) await failEach(run, call, error);
    if (run.failures === before) run.broken.push(`None of the ${call.what} could be made to fail.`);
    printProgress(`${call.name}: ${run.summary}`);
  }
  run.broken.push(...(await faultsOfAFailedSync(run.service, run.deposits)));
  return await run.finding(failing); // before the folder is removed
}

async function failEach(run: FailingRun, call: FailingCall, error: string): Promise<void> {
  for (let n = 1; n <= MOST; n += 1) {
    if (!(await run.fail(call, error, String(n)))) break; // creates need no more of them
  }
  for (const all of ['1+', '3+']) await run.fail(call, error, all);
}
