import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { type EventLog, occurredAt } from '../../src/event-log/event-log.ts';
import { parkedEvents } from '../../src/reactors/parking.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { RetryingDepositor } from '../../testing/http/retrying-depositor.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { StoringClient } from '../clients/storing-client.ts';
import { DRILL_PASSWORD, drillClient, registerIn, unsettled } from '../service/drilled-service.ts';
import { everythingVerified } from '../service/everything-verified.ts';
import { type NodeRole, ServiceCluster } from '../service/service-cluster.ts';
import { EngineProcesses } from './engine-processes.ts';

export type ObjectFaultSiteOptions = {
  /** The program of a real MinIO that is used as the store. */
  readonly minio?: string | undefined;
  readonly roles: readonly NodeRole[];
  readonly main?: string | undefined;
};

/** Time limit for a state, in milliseconds: parked objects are checked each minute. */
const TIME_LIMIT_MS = 120_000;
const UNREADABLE =
  'The service cannot read its copy of the archive at the moment; nothing is needed from you.';
const WRITERS = 2;
const DEPOSIT_REACTORS = ['checker', 'loader'] as const;

/** Nodes on a store whose objects a drill damages or loses: those of one client, while the others deposit. */
export class ObjectFaultSite implements AsyncDisposable {
  readonly engines: EngineProcesses;
  readonly cluster: ServiceCluster;
  readonly log: EventLog;
  /** The client whose objects are damaged or lost. */
  readonly owner: StoringClient;
  readonly #others: RetryingDepositor;
  readonly #opened: AsyncDisposableStack;
  #isOver = false;

  static async start({ minio, ...options }: ObjectFaultSiteOptions): Promise<ObjectFaultSite> {
    await using opened = new AsyncDisposableStack();
    const engines = opened.use(await EngineProcesses.start({ minio }));
    const log = opened.use(await openLog(readConfig(engines.settings)));
    for (const client of ['owner', 'drill']) await registerIn(log, client, DRILL_PASSWORD);
    const cluster = opened.use(await ServiceCluster.start(engines.settings, options));
    const nodes = cluster.urls as readonly [string, string]; // drills start two HTTP nodes
    const owner = await StoringClient.at(nodes[0], 'owner');
    for (const url of nodes) await StoringClient.at(url, 'drill');
    const { authorization } = drillClient(nodes[0]);
    const others = new RetryingDepositor({ nodes, authorization, collection: 'drill', longestPause: 500 });
    return new ObjectFaultSite({ engines, cluster, log, owner, others, opened: opened.move() });
  }

  private constructor(parts: Parts) {
    ({ engines: this.engines, cluster: this.cluster, log: this.log, owner: this.owner } = parts);
    this.#others = parts.others;
    this.#opened = parts.opened;
  }

  /** Has another client deposit until {@link outcome}, one deposit after the other by each writer. */
  load(): Promise<void> {
    let turns = 0;
    const write = async (): Promise<void> => {
      while (!this.#isOver) {
        await this.#others.deposit(turns++);
        await pause(300); // others use the machine, too
      }
    };
    const loaded = Promise.all(Array.from({ length: WRITERS }, write)).then(() => undefined);
    loaded.catch(() => undefined); // an error that ends the drill earlier also ends the nodes, and is the one to report
    return loaded;
  }

  /** The number of deposits of the other client that were acknowledged. */
  get acknowledged(): number {
    return this.#others.acknowledged.size;
  }

  /** Ends the load. */
  stopLoad(): void {
    this.#isOver = true;
  }

  /** Resolves to what the reactors have parked. */
  async parked() {
    return (await Promise.all(DEPOSIT_REACTORS.map((reactor) => parkedEvents(this.log, reactor)))).flat();
  }

  /** Resolves to a sentence for each way in which the service does not show deposits that wait for these objects. */
  async hidden(ids: readonly string[], objects: readonly string[]): Promise<string[]> {
    const broken: string[] = [];
    const expect = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
      if (!(await eventually(isSo))) broken.push(what);
    };
    for (const id of ids) {
      await expect(`Deposit ${id} does not show why it waits.`, async () => {
        const { status, detail } = await this.owner.status(id);
        return ['deposited', 'verified'].includes(status) && detail === UNREADABLE;
      });
    }
    await expect('A parked event does not name its object.', async () => {
      const named = new Set((await this.parked()).map(({ object }) => object));
      return objects.every((object) => named.has(object));
    });
    for (const url of this.cluster.everyUrl) {
      await expect(`${url}/health/ready does not count what is parked, or is not 200.`, async () => {
        const answer = await fetch(`${url}/health/ready`);
        const text = await answer.text();
        if (answer.status !== 200) return false; // an error document
        const { parked = 0 } = JSON.parse(text) as { readonly parked?: number };
        return parked >= ids.length;
      });
    }
    const { dataDir } = this.cluster;
    await expect('The metric does not count what is parked.', async () => {
      const metrics = await Exposition.of(this.cluster.dataDirOf('reactors'));
      return metrics.sum('deposit_reactor_parked_events') >= ids.length;
    });
    const shown = await runScript(dataDir, 'status', ['--json'], { env: this.engines.settings });
    for (const object of objects) {
      if (!shown.out.includes(object)) broken.push(`status does not name ${object}: ${shown.err}`);
    }
    return broken;
  }

  /** Waits until nothing is parked and every deposit is done, stops the nodes and looks at everything. */
  async outcome(): Promise<readonly string[]> {
    const { dataDir, ended } = this.cluster;
    const { settings } = this.engines;
    const isEmpty = await eventually(async () => (await this.parked()).length === 0);
    const stuck = await unsettled(dataDir, isEmpty ? TIME_LIMIT_MS : 0, settings);
    const ends = await this.#ends();
    const badlyEnded = await this.cluster.stop();
    return [
      ...ended,
      ...this.#others.faults,
      ...(isEmpty ? [] : ['Events are still parked.']),
      ...stuck.map((stream) => `${stream} is not done.`),
      ...ends.filter(([, type]) => type !== 'DepositLoaded').map(([stream, type]) => `${stream}: ${type}.`),
      ...[...this.#others.acknowledged.keys()]
        .filter((id) => !ends.some(([stream]) => stream === `deposit-${id}`))
        .map((id) => `Deposit ${id} was acknowledged and has no end in the log.`),
      ...badlyEnded,
      ...(stuck.length > 0 ? [] : await everythingVerified(dataDir, settings)),
    ];
  }

  /** Resolves to the longest time from completion to done, in milliseconds, of the other client's deposits that are done. */
  async longest(): Promise<number> {
    const completed = new Map<string, number>();
    let longest = 0;
    for await (const event of this.log.readAll({ streamPrefixes: ['deposit-'] })) {
      const { stream, type } = event;
      if (!this.#others.acknowledged.has(stream.slice('deposit-'.length))) continue;
      const at = Date.parse(occurredAt(event));
      if (type === 'DepositCompleted') completed.set(stream, at);
      if (type === 'DepositLoaded') longest = Math.max(longest, at - (completed.get(stream) ?? at));
    }
    return longest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#opened.disposeAsync();
  }

  /** Resolves to the events by which deposits have come to their end. */
  async #ends(): Promise<(readonly [stream: string, type: string])[]> {
    const ends: (readonly [string, string])[] = [];
    for await (const { stream, type } of this.log.readAll({ streamPrefixes: ['deposit-'] })) {
      if (['DepositLoaded', 'DepositRejected', 'LoadingFailed'].includes(type)) ends.push([stream, type]);
    }
    return ends;
  }
}

/** Resolves to whether a state has come about in time. */
export async function eventually(isSo: () => Promise<boolean>, timeLimit = TIME_LIMIT_MS): Promise<boolean> {
  const deadline = performance.now() + timeLimit;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await pause(100);
  }
  return true;
}

type Parts = Pick<ObjectFaultSite, 'engines' | 'cluster' | 'log' | 'owner'> & {
  readonly others: RetryingDepositor;
  readonly opened: AsyncDisposableStack;
};
