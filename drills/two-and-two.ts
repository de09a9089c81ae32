import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { depositHistories, judge } from '../testing/http/deposit-histories.ts';
import { RetryingDepositor } from '../testing/http/retrying-depositor.ts';
import { minioProgram } from '../testing/s3/minio-process.ts';
import { followLoads } from './clients/loads.ts';
import { StoringClient } from './clients/storing-client.ts';
import { interruptLog, killReactors } from './engines/cluster-faults.ts';
import { EngineProcesses } from './engines/engine-processes.ts';
import { type Finding, runDrill, printProgress as say, type Values } from './frame/drill.ts';
import { RunOf } from './frame/run-of.ts';
import { DRILL_PASSWORD, drillClient, registerIn } from './service/drilled-service.ts';
import { ServiceCluster } from './service/service-cluster.ts';

const HELP = `Deposits over two HTTP nodes while two reactor nodes check and load: four processes on one EventStoreDB (the double
of the tests) and one S3 server (MinIO if MINIO_BIN names one or minio is on the path, else that of the tests). After
each 201 the other node is asked for the status. In the end every deposit has to be done on both nodes, and in the log
once.

  node drills/two-and-two.ts [--deposits 500] [--writers 8] [--kill-reactors 0] [--log-down 0]

--kill-reactors N  a reactor node, either of the two, is killed with SIGKILL and started again, N times during the run
--log-down S       the event log is away for S seconds in the middle of the run
`;

/** Time limit for deposits to be done after the last was acknowledged, in milliseconds. */
const TIME_LIMIT_MS = 180_000;

const OPTIONS = {
  deposits: { full: 500, short: 20 },
  writers: { full: 8, short: 4 },
  'kill-reactors': { full: 0, short: 1, least: 0 },
  'log-down': { full: 0, short: 0, least: 0 },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill(values: Values<typeof OPTIONS>): Promise<Finding> {
  const { deposits, writers, 'kill-reactors': kills, 'log-down': logDown } = values;
  const minio = minioProgram();
  await using engines = await EngineProcesses.start({ minio });
  await using log = await openLog(readConfig(engines.settings));
  await registerIn(log, 'drill', DRILL_PASSWORD);
  await using cluster = await ServiceCluster.start(engines.settings);
  const nodes = cluster.urls as readonly [string, string]; // by default there are two
  for (const url of nodes) await StoringClient.at(url, 'drill');
  const { authorization } = drillClient(nodes[0]);
  const depositor = new RetryingDepositor({ nodes, authorization, collection: 'drill' });
  using loads = followLoads(log);
  const report = (what: string): void =>
    say(
      `${what}: ${depositor.acknowledged.size} of ${deposits} acknowledged, ${loads.loading} loading, ` +
        `${loads.done} loaded, ${depositor.unavailable} answers 503`,
    );
  using _ticker = everyTwoSeconds(() => report('running'));

  const begun = performance.now();
  using run = new RunOf(depositor, deposits);
  const [acknowledgedIn, borneBadly] = await Promise.all([
    run.write(writers).then(() => secondsSince(begun)),
    interruptLog(logDown, engines, cluster, run, report),
    killReactors(cluster, kills, run, loads, (kill) => report(`kill ${kill} of ${kills}`)),
  ]);
  const unfinished = await notDone(depositor, nodes);
  const doneIn = secondsSince(begun);
  const { lost, doubled, orphans } = judge(await depositHistories(log), depositor);
  const badlyEnded = await cluster.stop();
  return {
    tried: `${deposits} deposits over two HTTP nodes with two reactor nodes, of which one was killed ${kills} times, with archives in ${minio === undefined ? 'the S3 server of the tests' : 'MinIO'}; the event log was away for ${logDown} s.`,
    held: `All were acknowledged in ${acknowledgedIn.toFixed(1)} s and done on both nodes after ${doneIn.toFixed(1)} s, once each; no status was denied after a 201.`,
    broken: [
      ...depositor.faults,
      ...borneBadly,
      ...unfinished,
      ...lost.map((id) => `Deposit ${id} was acknowledged and is not loaded in the log.`),
      ...doubled.map((id) => `Deposit ${id} is in the log, or came about, more than once.`),
      ...badlyEnded,
    ],
    numbers: {
      kills,
      acknowledged: deposits,
      'false 404s': depositor.falseMissing,
      'answers 503': depositor.unavailable,
      'made by answers 503': orphans.length,
      lost: lost.length,
      doubled: doubled.length,
      stuck: unfinished.length,
    },
  };
}

/**
 * Waits until every acknowledged deposit is done on both nodes; resolves to those that are not after the time limit.
 */
async function notDone(depositor: RetryingDepositor, nodes: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  const found: string[] = [];
  for (const id of depositor.acknowledged.keys()) {
    for (const node of nodes) {
      const status = await depositor.finalStatus(node, id, deadline);
      if (status !== 'done') found.push(`Deposit ${id} is ${status ?? 'unknown'} at ${node}.`);
    }
  }
  return found;
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000;
}

function everyTwoSeconds(work: () => void): Disposable {
  const timer = setInterval(work, 2000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
