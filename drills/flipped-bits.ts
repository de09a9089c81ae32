import { hash } from 'node:crypto';
import { minioProgram } from '../testing/s3/minio-process.ts';
import { keyOf, newDeposit } from './clients/storing-client.ts';
import { eventually, ObjectFaultSite } from './engines/object-fault-site.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { HASTY_SERVICE_MAIN } from './service/service-process.ts';

const HELP = `Flips one bit in the archives of eight deposits of one client, in the bucket of a real MinIO (that of MINIO_BIN, or minio
on the path) or else of the S3 server of the tests, with two reactor nodes and two HTTP nodes. The deposits of another
client have to be done within seconds; the eight have to wait, shown as such, and to continue by themselves once their bits
are flipped back, or their bytes are deposited again.

  node drills/flipped-bits.ts`;

/** The number of deposits that a reactor of a node processes at the same time. */
const DAMAGED = 8;
const ARCHIVE_BYTES = 10_000;
/** Limit from completion to done for another client's deposit: one that waited for the eight would never be done. */
const LONGEST_MS = 30_000;
const BUCKET = 'deposits';

await runDrill(HELP, {}, ({ short }) => drill(short));

async function drill(isShort: boolean): Promise<Finding> {
  const minio = minioProgram();
  const main = isShort ? HASTY_SERVICE_MAIN : undefined;
  await using site = await ObjectFaultSite.start({ minio, main, roles: ['http', 'http'] });
  const { owner, engines, cluster } = site;
  const damaged = [];
  for (let turn = 0; turn < DAMAGED; turn += 1) damaged.push(await owner.deposit(newDeposit(ARCHIVE_BYTES)));
  const digests = damaged.map(({ archive }) => hash('sha256', archive));
  for (const digest of digests) await engines.store.flip(BUCKET, keyOf(digest));
  await cluster.add(['reactors', 'reactors']);
  const load = site.load();
  printProgress(`${DAMAGED} objects have a flipped bit`);
  await eventually(async () => (await site.parked()).length === DAMAGED);
  const parked = (await site.parked()).length;
  printProgress(`${parked} events are parked, ${site.acknowledged} other deposits are acknowledged`);
  const hidden = await site.hidden(
    damaged.map(({ id }) => id),
    digests,
  );
  const meanwhile = site.acknowledged;

  for (const [turn, deposit] of damaged.entries()) {
    if (turn % 2 === 0) await engines.store.flip(BUCKET, keyOf(deposit.archive));
    else await owner.deposit(deposit);
  }
  printProgress('the bytes are back');
  const mended = performance.now();
  await eventually(async () => (await site.parked()).length === 0);
  const seconds = Math.round((performance.now() - mended) / 1000);
  site.stopLoad();
  await load;
  const broken = await site.outcome();
  const longest = await site.longest();
  return {
    tried: `One bit was flipped in the archives of ${DAMAGED} deposits of one client, in ${minio === undefined ? 'the S3 server of the tests' : 'MinIO'}, with ${site.acknowledged} deposits of another client.`,
    held: `The ${DAMAGED} waited, were parked and counted, and were done within ${seconds} s of their bytes being back; the others were done after ${longest} ms at the most.`,
    broken: [
      ...hidden,
      ...broken,
      ...(parked === DAMAGED ? [] : [`${parked} events were parked in place of ${DAMAGED}.`]),
      ...(longest < LONGEST_MS ? [] : [`A deposit of another client took ${longest} ms.`]),
    ],
    numbers: {
      damaged: DAMAGED,
      parked,
      acknowledged: site.acknowledged,
      'acknowledged meanwhile': meanwhile,
      'longest until done, ms': longest,
    },
  };
}
