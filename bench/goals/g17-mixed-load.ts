import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, type Bench, type Comparison, type Goal } from '../frame/goal.ts';
import { LoadProcess } from '../load/load-process.ts';
import { completeCreate, listGet } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';

const [DEPOSITS, CLIENTS, LISTS_A_SECOND] = [6000, 16, 20];
const [LOOK_MS, IDLE_SECONDS] = [250, 30];
/** Each round takes a minute; memory varies by a tenth. */
const MOST_ROUNDS = 3;

/** Measures the proportional set size (PSS) of a new service: started, under load, and idle again. */
export const mixedLoad: Goal = {
  id: 'G17',
  what: `memory, ${DEPOSITS} deposits of ${CLIENTS} clients with lists beside them`,
  async measure(bench) {
    const rounds: Round[] = [];
    for (let round = 1; round <= Math.min(bench.pairs, MOST_ROUNDS); round += 1) {
      bench.tell(`G17: round ${round}`);
      rounds.push(await roundIn(path.join(bench.folder, `round-${round}`), bench));
    }
    const side = (what: string, part: keyof Round): Comparison => ({
      what,
      unit: 'MiB',
      ours: { name: 'service', values: rounds.map((each) => each[part]) },
      wanted: undefined,
    });
    return [
      side('started', 'started'),
      { ...side('under load, at the most', 'most'), wanted: atMost(226) },
      side(`after ${IDLE_SECONDS} s without a request`, 'idle'),
    ];
  },
};

type Round = { readonly started: number; readonly most: number; readonly idle: number };

async function roundIn(dataDir: string, { tell }: Bench): Promise<Round> {
  await prepareFolder(dataDir);
  await using service = await startBenched(dataDir);
  await using creating = new LoadProcess();
  await using listing = new LoadProcess();
  const memory = (): number => service.facts.proportionalMemory;
  const started = memory();
  const creates = { clients: CLIENTS, request: completeCreate(), requests: DEPOSITS };
  const lists = { clients: 1, request: listGet(''), rate: LISTS_A_SECOND };
  const ended = new AbortController();
  const created = creating.run({ ...creates, url: service.url, seconds: 600 }).finally(() => ended.abort());
  const listed = (async () => {
    while (!ended.signal.aborted) await listing.run({ ...lists, url: service.url, seconds: 1 });
  })();
  let most = started;
  const observed = (async () => {
    for (; !ended.signal.aborted; await pause(LOOK_MS)) most = Math.max(most, memory());
  })();
  await Promise.all([created, listed, observed]);
  tell(`G17: ${IDLE_SECONDS} s without a request`);
  await pause(IDLE_SECONDS * 1000);
  return { started, most, idle: memory() };
}
