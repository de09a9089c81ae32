import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seeded } from '../testing/processes/seeded-random.ts';
import { AUTHORIZATION } from './clients/answered-deposits.ts';
import { type Finding, printProgress, runDrill, skipped, type Values } from './frame/drill.ts';
import { outputFolder } from './frame/kept-output.ts';
import { builtChecker, type Judgement, judged, NotBuilt } from './histories/checker.ts';
import { Clients } from './histories/clients.ts';
import { lastReads } from './histories/last-reads.ts';
import type { Operation } from './histories/operation.ts';
import { ProxiedSite, type SiteName } from './histories/proxied-site.ts';
import { RecordedRequests } from './histories/recorded-requests.ts';
import { SiteFaults } from './histories/site-faults.ts';
import { scratchFolder } from './service/drilled-service.ts';

const HELP = `Concurrent clients work on the same deposits over two nodes, on three event log servers (the double of EventStoreDB) and
one S3 server. Reactors run on two other nodes or, by an odd seed, on the same ones. Meanwhile connections are cut, silent
or slow, nodes are killed, and the servers of the log lose their leader or their quorum. The history of requests and answers
of each deposit is checked for linearizability by Porcupine, a Go program in drills/linearizability. While a node does not
reach the log, or the log takes more than a second to answer, or a leader of it was deposed, a read may show an earlier
state of its deposit.

  node drills/histories.ts [--seconds 600] [--clients 8] [--seed N] [--keep DIR] [--strict]

--seconds N  for how long clients work and faults happen
--seed N     the seed of operations and faults; without it a random one
--keep DIR   the history and visualizations of violations are put here, also if there is no violation
--strict     every read has to show the present state
`;

/** A request without an answer is given up after this time; deposits have this time to come to their end. */
const [REQUEST_MS, END_MS] = [5000, 120_000];

const OPTIONS = {
  seconds: { full: 600, short: 40 },
  clients: 8,
  seed: newSeed(),
  keep: { type: 'string' },
  strict: { type: 'boolean', default: false },
} as const;

await runDrill(HELP, OPTIONS, drill);

type Drill = Pick<Values<typeof OPTIONS>, 'seconds' | 'clients' | 'seed'>;

type Recorded = {
  readonly operations: readonly Operation[];
  readonly faults: readonly string[];
  /** The number of faults of each kind. */
  readonly counts: ReadonlyMap<string, number>;
};

async function drill({ keep, strict, ...options }: Values<typeof OPTIONS>): Promise<Finding> {
  await using folder = await scratchFolder('checked');
  const built = await builtChecker(folder.path).catch((error: unknown) => error);
  if (built instanceof NotBuilt) return notRun(built);
  if (typeof built !== 'string') throw built;
  const { operations, faults, counts } = await recorded(options);
  const results = path.join(folder.path, 'results');
  await mkdir(results);
  const judgement = await judged(
    built,
    strict ? operations.map((operation) => ({ ...operation, mayLag: false })) : operations,
    results,
  );
  const isBroken = judgement.violations.length + judgement.undecided.length + faults.length > 0;
  const kept =
    keep ?? (isBroken ? await mkdtemp(path.join(outputFolder ?? tmpdir(), 'history-')) : undefined);
  if (kept !== undefined) await cp(results, kept, { recursive: true });
  return finding({ ...options, judgement, faults, counts, kept });
}

/** A machine without Go skips the drill. In continuous integration a checker that is not built is a fault. */
function notRun({ message, isGoMissing }: NotBuilt): Finding {
  const finding = skipped(`NOT RUN: ${message}`);
  if (isGoMissing || !process.env['CI']) return finding;
  return { tried: finding.tried, held: '', broken: [message], numbers: {} };
}

/** Nodes have one role by an even seed, both by an odd one. */
function siteOf(seed: number): SiteName {
  return seed % 2 === 0 ? 'two-and-two' : 'two-of-both';
}

async function recorded({ seconds, clients: number, seed }: Drill): Promise<Recorded> {
  await using site = await ProxiedSite.start(siteOf(seed));
  const requests = new RecordedRequests({
    authorization: AUTHORIZATION,
    collection: 'drill',
    timeLimit: REQUEST_MS,
  });
  const clients = new Clients({ requests, targets: () => site.targets, random: seeded(seed) });
  const siteFaults = new SiteFaults(site, seeded(seed + 1));
  const over = new AbortController();
  printProgress(`seed ${seed}: ${number} clients for ${seconds} s`);
  const faulty = siteFaults.run(over.signal);
  const working = clients.run(number);
  await Promise.race([pause(seconds * 1000), faulty]);
  over.abort();
  await faulty;
  clients.stop();
  await working;
  printProgress(`${requests.operations.length} operations; deposits come to their end`);
  const unsettled = await lastReads({
    requests,
    targets: site.targets,
    known: clients.deposits.ids,
    client: number,
    timeLimit: END_MS,
  });
  const ended = site.cluster.ended;
  const badlyEnded = ended.length > 0 ? [] : await site.cluster.stop();
  const operations = requests.operations.map((operation) =>
    siteFaults.mayLag(operation) ? { ...operation, mayLag: true } : operation,
  );
  return {
    operations,
    faults: [...requests.faults, ...unsettled, ...ended, ...badlyEnded],
    counts: siteFaults.counts,
  };
}

type Found = Drill &
  Pick<Recorded, 'faults' | 'counts'> & { readonly judgement: Judgement; readonly kept: string | undefined };

function finding({ seconds, clients, seed, judgement, faults, counts, kept }: Found): Finding {
  const { deposits, operations, unknown, stale, violations, undecided } = judgement;
  const happened = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const where = kept === undefined ? '' : ` (the history is in ${kept})`;
  return {
    tried: `${clients} clients sent ${operations} requests about ${deposits} deposits over two nodes${siteOf(seed) === 'two-of-both' ? ' with both roles' : ''} in ${seconds} s, during ${happened} faults of ${counts.size} kinds; ${unknown} were left without an answer (seed ${seed}).`,
    held: `The history of each deposit is linearizable; ${stale} answers of nodes that could not read the log showed an earlier state.`,
    broken: [
      ...violations.map(
        ({ deposit, text }) => `The history of deposit ${deposit} is not linearizable${where}:\n${text}`,
      ),
      ...undecided.map((deposit) => `The checker did not come to an end about deposit ${deposit}${where}.`),
      ...faults,
    ],
    numbers: {
      seed,
      deposits,
      operations,
      unanswered: unknown,
      faults: happened,
      'kinds of faults': counts.size,
      'earlier states': stale,
      violations: violations.length,
    },
  };
}

function newSeed(): number {
  return 1 + Math.floor(Math.random() * 1_000_000);
}
