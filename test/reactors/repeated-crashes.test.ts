import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import type { EventLog, RecordedEvent } from '../../src/event-log/event-log.ts';
import { EventLogParking, parkedEvents } from '../../src/reactors/parking.ts';
import type { Reactor } from '../../src/reactors/reactor.ts';
import { ReactorRunner } from '../../src/reactors/reactor-runner.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { CrashingProcess, crashingLog } from '../../testing/event-log/crashing-process.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

/*
 * Events of several clients, processed by two reactors in a process that crashes or is stopped at any moment and
 * starts again, until all are completed. The fate of each event is random; the guarantees for all of them are checked
 * meanwhile. LIVES_SEEDS=300 LIVES_FROM=1000 selects other seeds.
 */

const REACTORS = ['first', 'second'] as const;
const CONCURRENCY = 4;
/** Outcomes of an event for each reactor, taken from its data. */
const FATES = ['good', 'good', 'good', 'good', 'slow', 'slow', 'shy', 'bad', 'worse'] as const;
type Fate = (typeof FATES)[number] | 'deadly';

class World {
  readonly t: ExecutionContext;
  readonly random: () => number;
  readonly log = new MemoryEventLog();
  readonly #root: string;
  #folders = 0;
  readonly #revisions = new Map<string, number>();
  /** Events that were completed or given up, by reactor and event. */
  readonly over = new Set<string>();
  /** Events of `over` whose process was stopped gracefully. */
  readonly #settled = new Set<string>();
  readonly fates = new Map<string, Fate>();

  constructor(t: ExecutionContext, root: string, seed: number) {
    this.t = t;
    this.#root = root;
    this.random = seeded(seed);
  }

  upTo(most: number): number {
    return Math.floor(this.random() * most);
  }

  get folder(): string {
    return path.join(this.#root, String(this.#folders));
  }

  /** Copies the folder: the crashed process may still write, but its successor has the folder as of the crash. */
  inheritFolder(): void {
    const before = this.folder;
    this.#folders += 1;
    mkdirSync(this.folder, { recursive: true });
    for (const file of readdirSync(before)) {
      try {
        copyFileSync(path.join(before, file), path.join(this.folder, file));
      } catch {
        // The file is just being renamed: the previous file of that name counts.
      }
    }
  }

  async happen(count: number, fate?: Fate): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      const stream = `job-${'abc'[this.upTo(3)]}-${this.upTo(4)}`;
      const revision = this.#revisions.get(stream) ?? -1;
      const id = crypto.randomUUID();
      const fates = REACTORS.map((reactor, index) => {
        const drawn = fate && index === 0 ? fate : (FATES[this.upTo(FATES.length)] ?? 'good');
        this.fates.set(`${reactor} ${id}`, drawn);
        return drawn;
      });
      const event = { id, type: 'Work', data: { fates }, metadata: {} };
      await this.log.append(stream, revision < 0 ? 'none' : revision, [event]);
      this.#revisions.set(stream, revision + 1);
    }
  }

  /** Runs one process until its crash, its stop or the end of all work. Resolves to true when no work is left. */
  async live(steps: number, stopsAfter: number): Promise<boolean> {
    mkdirSync(this.folder, { recursive: true });
    const over = new Set<string>();
    const life = new CrashingProcess(steps, () => this.inheritFolder());
    const log = crashingLog(this.log, life);
    const deliveries = new CatchUpDeliveries(log, this.folder);
    const runners = REACTORS.map((name) => {
      const reactor = this.#reactor(name, life, over);
      const parking = new EventLogParking(log);
      const options = {
        deliveries,
        parking,
        logger: silentLogger,
        slots: CONCURRENCY,
        firstPause: 0.1,
      };
      const runner = new ReactorRunner(reactor, options);
      runner.start((error) => this.t.fail(String(error)));
      return runner;
    });
    const dead = new Promise((resolve) => life.crashed.addEventListener('abort', resolve));
    let isOver = false;
    for (let turns = 0; turns < stopsAfter && !isOver && !life.crashed.aborted; turns += 1) {
      await turn();
      if (turns % 20 === 0) isOver = await this.#nothingWaits(deliveries);
    }
    const stopped = Promise.all(runners.map((runner) => runner.stop())); // also after a crash: they leave no timers behind
    await Promise.race([stopped, dead]);
    if (life.crashed.aborted) return false;
    for (const done of over) this.#settled.add(done);
    if (isOver) this.t.true(runners.every(({ status }) => status.underWay === 0));
    return isOver;
  }

  async #nothingWaits(deliveries: CatchUpDeliveries): Promise<boolean> {
    const standings = await Promise.all(REACTORS.map((name) => deliveries.status(name, 'job-')));
    return standings.every(({ waiting }) => waiting === 0);
  }

  #reactor(name: (typeof REACTORS)[number], life: CrashingProcess, over: Set<string>): Reactor {
    const underWay = new Map<string, number>();
    const begun = new Map<string, number>();
    const tries = new Map<string, number>();
    const clientOf = (stream: string): string => stream.split('-')[1] ?? '';
    const react = async (event: RecordedEvent): Promise<void> => {
      const { id, stream, revision } = event;
      const key = `${name} ${id}`;
      const { t } = this;
      const tried = (tries.get(id) ?? 0) + 1;
      tries.set(id, tried);
      const ofClient = [...underWay.keys()].filter((other) => clientOf(other) === clientOf(stream));
      t.false(underWay.has(stream), 'two of one stream concurrently');
      t.true(
        underWay.size < CONCURRENCY && ofClient.length < CONCURRENCY / 2,
        'more than the limit concurrently',
      );
      t.true((begun.get(stream) ?? -1) <= revision, 'out of order');
      t.false(this.#settled.has(key), 'again after a stop');
      t.true(tried <= 8, 'too many attempts');
      underWay.set(stream, revision);
      begun.set(stream, revision);
      try {
        await life.step();
        await this.#suffer((event.data['fates'] as Fate[])[REACTORS.indexOf(name)] ?? 'good', tried, life);
        await life.step();
        this.over.add(key);
        over.add(key);
      } finally {
        underWay.delete(stream);
      }
    };
    const giveUp = async ({ id }: RecordedEvent): Promise<void> => {
      await life.step();
      if (this.fates.get(`${name} ${id}`) === 'worse') throw new Error('not even given up');
      this.over.add(`${name} ${id}`);
      over.add(`${name} ${id}`);
    };
    const ownerOf = async ({ stream }: RecordedEvent): Promise<string> => clientOf(stream);
    const hasWork = async (): Promise<boolean> => true;
    return { name, streamPrefix: 'job-', reactsTo: () => true, ownerOf, hasWork, react, giveUp };
  }

  async #suffer(fate: Fate, tried: number, life: CrashingProcess): Promise<void> {
    if (fate === 'deadly') life.crash();
    for (let turns = fate === 'slow' ? 30 : 1; turns > 0; turns -= 1) await turn();
    if (fate === 'deadly') await life.step();
    if (fate === 'bad' || fate === 'worse') throw new Error('it is bad');
    if (fate === 'shy' && tried < 4) throw Object.assign(new Error('not now'), { code: 'POOL_BUSY' });
  }
}

/** Resolves to the number of processes that it took. */
async function run(t: ExecutionContext, seed: number): Promise<number> {
  const root = await temporaryFolder(t);
  const world = new World(t, root, seed);
  await world.happen(5 + world.upTo(20));
  if (world.upTo(2) === 0) await world.happen(1, 'deadly');
  await world.happen(world.upTo(20));
  let lives = 0;
  for (let isOver = false; !isOver && lives < 60; lives += 1) {
    const isCalm = lives > 6;
    isOver = await world.live(
      isCalm ? Number.POSITIVE_INFINITY : 1 + world.upTo(120),
      isCalm ? Number.POSITIVE_INFINITY : 1 + world.upTo(400),
    );
    if (!isCalm) await world.happen(world.upTo(4));
    if (!isCalm) isOver = false;
  }
  await assertAllDone(t, world, world.log);
  return lives;
}

async function assertAllDone(t: ExecutionContext, { over, fates }: World, log: EventLog): Promise<void> {
  for (const reactor of REACTORS) {
    const parked = new Set((await parkedEvents(log, reactor)).map(({ eventId }) => `${reactor} ${eventId}`));
    for (const [key, fate] of fates) {
      if (!key.startsWith(`${reactor} `)) continue;
      t.true(over.has(key) || parked.has(key), `lost: ${fate} ${key}`);
      const mayBeParked = fate === 'worse' || fate === 'deadly' || reactor !== 'first';
      t.true(mayBeParked || !parked.has(key), `parked although it is ${fate}`);
      if (fate === 'deadly') t.true(parked.has(key), 'a poison event that is not parked');
    }
  }
}

const SEEDS = Number(process.env['LIVES_SEEDS'] ?? 4);
const FROM = Number(process.env['LIVES_FROM'] ?? 1);
for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
  test(`nothing is lost, duplicated or reordered by crashes and stops of a process: seed ${seed}`, async (t) => {
    t.log(`${await run(t, seed)} lives`);
  });
}
