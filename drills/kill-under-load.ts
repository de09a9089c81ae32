import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { runScript } from '../testing/processes/run-script.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { type Kept, promisesKept } from './clients/promises-kept.ts';
import type { Ledger } from './clients/watched-deposit.ts';
import { type Finding, printProgress, runDrill, type Values } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Kills the service with SIGKILL at random moments under a mixed load: creates by form and binary, PUT of archives and
metadata, completions, some with an Idempotency-Key that is repeated until it is answered. Afterwards everything that
was acknowledged has to be there, byte by byte and once, every deposit that was completed at its end, every object that
an event names in the store, and what no event names has to be found by gc.

  node drills/kill-under-load.ts [--kills 200] [--writers 4] [--longest 600]

--longest MS  maximum delay of a kill in milliseconds, after the service was ready or a write was acknowledged
`;

/** Time limit for a write to be acknowledged, in milliseconds. */
const TIME_LIMIT_MS = 10_000;

const OPTIONS = { kills: { full: 200, short: 3 }, writers: 4, longest: { full: 600, short: 300 } } as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ kills, writers, longest }: Values<typeof OPTIONS>): Promise<Finding> {
  await using folder = await drilledFolder('kills');
  const { dataDir } = folder;
  const port = await freePort();
  const client = drillClient(`http://127.0.0.1:${port}`);
  const load = new MixedLoad(client, { writers });
  const { ledger } = load;
  for (let kill = 1; kill <= kills; kill += 1) {
    await using service = await ServiceProcess.start(dataDir, port);
    // Some kills come during the first requests, the others when writes are being acknowledged.
    if (kill % 4 !== 0) await oneMore(ledger);
    await pause(Math.random() * longest);
    await service.end('SIGKILL');
    printProgress(`kill ${kill} of ${kills}: ${ledger.acknowledged} writes acknowledged`);
  }
  await using service = await ServiceProcess.start(dataDir, port);
  await pause(300); // requests with a key are repeated and answered
  await load.stop();
  const kept = await promisesKept(ledger, client, dataDir);
  const code = await service.end('SIGTERM');
  const { orphans, dangling } = await sweep(dataDir);
  const broken = [
    ...ledger.faults,
    ...kept.lost,
    ...kept.doubled,
    ...kept.stuck,
    ...dangling,
    ...(code === 0 ? [] : [`The service ended with ${code} after SIGTERM.`]),
    ...(ledger.acknowledged > kills / 2 ? [] : [`Only ${ledger.acknowledged} writes were acknowledged.`]),
  ];
  return finding(kills, writers, load, { kept, dangling, orphans, broken });
}

/** Resolves when another write is acknowledged, or after the time limit. */
async function oneMore(ledger: Ledger): Promise<void> {
  const [before, deadline] = [ledger.acknowledged, performance.now() + TIME_LIMIT_MS];
  while (ledger.acknowledged === before && performance.now() < deadline) await pause(5);
}

/** Removes objects that no event references; checks that the referenced ones exist afterwards. */
async function sweep(dataDir: string): Promise<{ orphans: number; dangling: string[] }> {
  const { code, out, err } = await runScript(dataDir, 'gc', [
    '--remove',
    '--more-than-a-tenth',
    '--older-than',
    '0s',
    '--json',
  ]);
  if (code !== 0) throw new Error(`gc ended with ${code}: ${err}`);
  const { objects, uploads } = JSON.parse(out) as { objects: number; uploads: number };
  return { orphans: objects + uploads, dangling: await everythingVerified(dataDir) };
}

type Results = {
  readonly kept: Kept;
  readonly dangling: readonly string[];
  readonly orphans: number;
  readonly broken: readonly string[];
};

function finding(
  kills: number,
  writers: number,
  { ledger }: MixedLoad,
  { kept, dangling, orphans, broken }: Results,
): Finding {
  return {
    tried: `SIGKILL ${kills} times at random moments under ${writers} writers with ${ledger.acknowledged} writes acknowledged.`,
    held: `Each of the ${ledger.deposits.size} deposits is there as it was acknowledged, once, and at its end; all that events name is in the store.`,
    broken,
    numbers: {
      kills,
      acknowledged: ledger.acknowledged,
      unanswered: ledger.unanswered,
      deposits: ledger.deposits.size,
      lost: kept.lost.length,
      doubled: kept.doubled.length,
      dangling: dangling.length,
      stuck: kept.stuck.length,
      'orphans swept': orphans,
    },
  };
}
