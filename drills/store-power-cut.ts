import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Acknowledged, keyOf, newDeposit } from './clients/storing-client.ts';
import { eventually, ObjectFaultSite } from './engines/object-fault-site.ts';
import type { StoreProcess } from './engines/store-process.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { HASTY_SERVICE_MAIN } from './service/service-process.ts';

const HELP = `Cuts the power of the S3 server of the tests, which loses the object that it acknowledged last, as MinIO does without
MINIO_FS_OSYNC: first the archives of deposits that no reactor has checked, then whatever was stored last under load.
The deposits have to wait, shown as such, and to be done once their bytes are deposited again or brought back.

  node drills/store-power-cut.ts`;

const ARCHIVE_BYTES = 10_000;
const BUCKET = 'deposits';
/** A missing object is requested again for about four minutes, longer on a busy machine. */
const PARKED_WITHIN_MS = 600_000;
const BETWEEN_CUTS_MS = 1000;

await runDrill(HELP, {}, ({ short }) => drill(short));

async function drill(isShort: boolean): Promise<Finding> {
  const cuts = isShort ? 3 : 10;
  const main = isShort ? HASTY_SERVICE_MAIN : undefined;
  await using site = await ObjectFaultSite.start({ main, roles: ['http', 'http'] });
  const store = site.engines.store as StoreProcess; // no MinIO was requested
  const waiting: Acknowledged[] = [];
  for (let cut = 0; cut < cuts; cut += 1) {
    const deposit = await site.owner.deposit(newDeposit(ARCHIVE_BYTES));
    await store.cutPower(BUCKET, keyOf(deposit.archive));
    waiting.push(deposit);
  }
  await site.cluster.add(['reactors', 'reactors']);
  const load = site.load();
  for (let cut = 0; cut < cuts; cut += 1) {
    await pause(BETWEEN_CUTS_MS);
    await store.cutPower(BUCKET);
  }
  const lost = await store.lost(BUCKET);
  printProgress(`${lost.length} objects are lost`);
  await eventually(async () => (await site.parked()).length >= cuts, PARKED_WITHIN_MS);
  const parked = (await site.parked()).length;
  printProgress(`${parked} events are parked, ${site.acknowledged} other deposits are acknowledged`);
  const hidden = await site.hidden(
    waiting.map(({ id }) => id),
    waiting.map(({ archive }) => hash('sha256', archive)),
  );
  for (const [turn, deposit] of waiting.entries()) if (turn % 2 === 0) await site.owner.deposit(deposit);
  for (const key of lost) await store.bringBack(BUCKET, key);
  printProgress('the bytes are back');
  site.stopLoad();
  await load;
  return {
    tried: `The power of the store was cut ${2 * cuts} times, which lost ${lost.length} objects: the archives of ${cuts} deposits, and what was stored last during ${site.acknowledged} deposits of another client.`,
    held: `Nothing was rejected or failed; the ${cuts} deposits without an archive waited, were named, and all were done once the bytes were back.`,
    broken: [...hidden, ...(await site.outcome())],
    numbers: { cuts: 2 * cuts, 'objects lost': lost.length, parked, acknowledged: site.acknowledged },
  };
}
