import type { EventLog } from '../../src/event-log/event-log.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { setSite } from '../current-site.ts';
import type { SimulatedDisk } from '../disk/disk.ts';
import { faultsOfEmbedded, mirrorOf } from '../disk/embedded-log.ts';
import { FAULTS } from '../faults/faults.ts';
import { judge, type Violation } from '../invariants/invariants.ts';
import { asOperator } from '../nodes/cluster-engines.ts';
import { asEmbeddedOperator } from '../nodes/embedded-engines.ts';
import { boot, type SimulatedNode } from '../nodes/simulated-node.ts';
import type { Plan } from '../plan/plan.ts';
import { type Host, running } from '../world/host.ts';
import { realImmediate } from '../world/real-immediate.ts';
import { stackOf } from '../world/stack-of.ts';
import { type Note, setWorld, World } from '../world/world.ts';
import { archiveKinds } from './archive-bytes.ts';
import { Clients } from './clients.ts';
import type { EndedHistory, FaultWindow } from './ended-history.ts';
import { Scene } from './scene.ts';
import { bindStore, collectGarbage, registerClients, storeOrphans } from './set-up.ts';
import { isSettled } from './settled.ts';
import { Standings } from './standings.ts';

export type Counts = Readonly<Record<string, number>>;

export type HistoryResult = {
  readonly seed: number;
  /** Over everything that happened: equal for equal plans on the same code. */
  readonly hash: string;
  readonly steps: number;
  /** Steps of each host, in the order of their numbers in plans. */
  readonly hostSteps: readonly number[];
  readonly events: number;
  readonly simulatedMs: number;
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<'faults' | 'crashPoints' | 'eventTypes' | 'appends', Counts>>;
  /** Causes that the model knows: events that a checkpoint made the server forget, objects that a power cut lost. */
  readonly causes: readonly string[];
  /** With tracing. */
  readonly notes: readonly Note[] | undefined;
};

/**
 * Milliseconds after the last fault and request in which everything has to end. A retry waits as long as a clock was set
 * back, ten minutes at most. An event that is suspected of a crash runs exclusively for up to five minutes.
 */
const CALM_MS = 720_000;
/** Looks whether everything has ended, and how long it is watched from then on. */
const [FIRST_LOOK_MS, LOOK_EVERY_MS, AFTERMATH_MS] = [3000, 500, 2500];
const MOST_STEPS = 600_000;
/** A turn of the event loop costs as much as a step. */
const STEPS_A_TURN = 64;

export type RunOptions = { readonly isTraced?: boolean };
const RESTART_MS = 500; // after which a supervisor starts a node again
/** Milliseconds for which a node may run on after a fault of its disk: its stop waits three seconds for deliveries. */
const DISK_AFTERMATH_MS = 3500;

/** Runs a history to its end and judges it. Only one runs in a process at a time. */
export async function runHistory(plan: Plan, { isTraced = false }: RunOptions = {}): Promise<HistoryResult> {
  const world = new World(plan.seed, { isTraced });
  setWorld(world);
  const onRejection = (error: unknown): void => void world.unhandled.push(stackOf(error));
  process.on('unhandledRejection', onRejection);
  try {
    return await new History(world, plan).run();
  } finally {
    process.off('unhandledRejection', onRejection);
    setSite(undefined);
    setWorld(undefined);
  }
}

class History {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #scene: Scene;
  readonly #standings: Standings;
  readonly #clients: Clients;
  /** Nodes that are ready, by the name of their host. */
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #faults: FaultWindow[] = [];
  readonly #failures: string[] = [];
  readonly #errors: string[] = [];
  #operatorLog: EventLog | undefined;
  #hasCrashed = false;

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.#plan = plan;
    this.#scene = new Scene(world, plan);
    setSite(this.#scene.site);
    this.#standings = new Standings(this.#scene);
    this.#clients = new Clients(this.#scene, plan, this.#nodes, (work) => this.#withLog(work));
    this.#scene.boot = (host) => boot(host, this.#nodeOptions());
    this.#scene.stop = async ({ name }) => this.#nodes.get(name)?.resources.disposeAsync();
  }

  async run(): Promise<HistoryResult> {
    const { cluster, log, disks } = this.#scene;
    using opened = new DisposableStack();
    for (const disk of disks) opened.use(disk);
    if (this.#scene.disk) this.#beginEmbedded(this.#scene.disk);
    else {
      storeOrphans(this.#scene, this.#plan);
      void asOperator(this.#scene.operator, (log, store) => this.#operate(log, store));
    }
    this.#planFaults();
    this.#clients.begin();
    const isCutOff = await this.#live();
    const ended = this.#ended(isCutOff);
    const violations = judge(ended);
    for (const { kind, text } of violations) this.#world.note('violation', `${kind}: ${text}`);
    for (const { process } of this.#scene.hosts) process?.end();
    this.#scene.operator.end();
    return {
      seed: this.#plan.seed,
      hash: this.#world.hash,
      steps: this.#world.steps,
      hostSteps: this.#scene.hosts.map(({ steps }) => steps),
      events: log.events.length,
      simulatedMs: this.#world.now,
      violations,
      counts: {
        faults: countOf(this.#faults.map(({ kind }) => kind)),
        crashPoints: Object.fromEntries(this.#scene.crashPoints),
        eventTypes: countOf(log.events.map(({ type }) => type)),
        appends: cluster.appends.counts,
      },
      causes: [
        ...(cluster.truncated > 0 ? [`${cluster.truncated} appends were lost with their leader`] : []),
        ...cluster.groups.forgotten,
        ...[...this.#scene.store.lost].map((key) => `a power cut lost ${key}`),
      ],
      notes: this.#world.notes,
    };
  }

  /** Prepares the site, starts the nodes, and then waits for what an operator has to do. */
  async #operate(log: EventLog, store: ObjectStore): Promise<never> {
    this.#operatorLog = log;
    await bindStore(log, store);
    await registerClients(log);
    this.#scene.collectGarbage = () =>
      void running.run(this.#scene.operator, () => collectGarbage(log, store).catch(() => undefined)); // an engine is away
    for (const host of this.#scene.hosts) this.#scene.boot(host);
    return new Promise(() => undefined);
  }

  /** Prepares the disk, and starts the node. */
  #beginEmbedded(disk: SimulatedDisk): void {
    disk.onLogCommit = mirrorOf(this.#scene.log);
    void asEmbeddedOperator(this.#scene.operator, async (log, openStore) => {
      await using store = await openStore();
      await bindStore(log, store);
      await registerClients(log);
    }).then(() => {
      for (const host of this.#scene.hosts) this.#scene.boot(host);
    });
  }

  #withLog<Result>(work: (log: EventLog) => Promise<Result>): Promise<Result> {
    const { operator, disk } = this.#scene;
    if (disk) return asEmbeddedOperator(operator, (log) => work(log));
    return running.run(operator, () => work(this.#operatorLog as EventLog));
  }

  /** A supervisor starts a node again that cannot go on: a violation, unless its disk is the cause. */
  #onFailure(host: Host, error: unknown): void {
    const failedAt = this.#scene.disk?.lastFailureAt(host.process?.isReady ?? false) ?? -Infinity;
    if (host.ranFor(failedAt, this.#world.now) > DISK_AFTERMATH_MS)
      this.#failures.push(`${host.name}: ${stackOf(error)}`);
    this.#world.note('node', `${host.name} cannot go on: ${(error as Error).message}`);
    this.#scene.kill(this.#scene.hosts.indexOf(host), { down: RESTART_MS, seen: 1 }, 'failure');
  }

  #nodeOptions() {
    return {
      plan: this.#plan,
      onError: (text: string) => void this.#errors.push(text),
      onFailure: (host: Host, error: unknown) => this.#onFailure(host, error),
      onReady: (node: SimulatedNode) => {
        this.#nodes.set(node.process.name, node);
        if (node.deliveries) this.#standings.follow(node);
      },
    };
  }

  #planFaults(): void {
    for (const { kind, at, parameters } of this.#plan.faults) {
      this.#scene.later(at, () => {
        this.#world.note('fault', `${kind} ${JSON.stringify(parameters)}`);
        if (!FAULTS[kind].begin(parameters, this.#scene)) return;
        this.#faults.push({ kind, from: at, until: at + FAULTS[kind].duration(parameters) });
      });
    }
  }

  /** Resolves when everything has ended, or is late; to true if it took too many steps. */
  #live(): Promise<boolean> {
    const { faults, deposits } = this.#plan;
    const faultEnds = faults.map(({ kind, at, parameters }) => at + FAULTS[kind].duration(parameters));
    const calmFrom = Math.max(0, ...faultEnds, ...deposits.map(({ at }) => at));
    let [nextLook, endAt] = [calmFrom + FIRST_LOOK_MS, calmFrom + CALM_MS];
    let hasSettled = false;
    return new Promise((resolve) => {
      let isOver = false;
      const step = (): void => {
        if (isOver) return;
        this.#world.end();
        const { now, steps } = this.#world;
        if (this.#crashesBehindStep()) [hasSettled, endAt] = [false, now + CALM_MS];
        if (!hasSettled && now > nextLook) {
          nextLook = now + LOOK_EVERY_MS;
          hasSettled = this.#clients.areDone && isSettled(this.#scene, this.#nodes);
          if (hasSettled) endAt = now + AFTERMATH_MS;
        }
        isOver = now > endAt || steps > MOST_STEPS || !this.#world.begin();
        if (isOver) resolve(steps > MOST_STEPS);
      };
      // Macrotasks: Node runs all microtasks of a step before the next one, also of those in one turn of its loop.
      const turn = (): void => {
        for (let left = STEPS_A_TURN; left > 0; left--) realImmediate(step);
        realImmediate(() => isOver || turn());
      };
      turn();
    });
  }

  /** Returns whether a host crashes now. */
  #crashesBehindStep(): boolean {
    const { stepCrash } = this.#plan;
    if (this.#hasCrashed || !stepCrash || this.#scene.host(stepCrash.host).steps < stepCrash.step)
      return false;
    this.#hasCrashed = true;
    const { host, down, isPowerCut = false } = stepCrash;
    const killing = { down, seen: 1 };
    if (isPowerCut ? this.#scene.cutPower(host, killing) : this.#scene.kill(host, killing))
      this.#faults.push({ kind: 'crash', from: this.#world.now, until: this.#world.now + down });
    return true;
  }

  #ended(isCutOff: boolean): EndedHistory {
    const { log, store, receiver, hosts, disk } = this.#scene;
    const logFaults = disk ? faultsOfEmbedded(disk, log, store) : [];
    const nodes = hosts.flatMap(({ name, process }) => {
      const node = this.#nodes.get(name);
      return node && node.process === process && process.isAlive ? [node] : [];
    });
    return {
      plan: this.#plan,
      log,
      logFaults,
      pieceFaults: this.#clients.pieceFaults,
      store,
      received: receiver.received,
      earlyRetries: receiver.earlyRetries,
      answers: this.#clients.answers,
      unanswered: this.#clients.unanswered,
      nodes,
      absent: hosts
        .filter(({ name }) => !nodes.some(({ process }) => process.name === name))
        .map(({ name }) => name),
      faults: this.#faults,
      standings: this.#standings.all,
      archiveKinds: archiveKinds(this.#plan),
      unhandled: this.#world.unhandled,
      failures: this.#failures,
      errors: this.#errors,
      steps: this.#world.steps,
      isCutOff,
    };
  }
}

function countOf(names: readonly string[]): Counts {
  const all = Map.groupBy(names, (name) => name).entries();
  return Object.fromEntries(all.map(([name, { length }]) => [name, length]));
}
