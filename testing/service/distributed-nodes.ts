import type { Config, EventStoreDbTimes, Role } from '../../src/config/config.ts';
import { EventStoreDbDouble } from '../eventstoredb-double/eventstoredb-double.ts';
import { depositHistories, type Judgement, judge } from '../http/deposit-histories.ts';
import { RetryingDepositor } from '../http/retrying-depositor.ts';
import type { TestClient } from '../http/test-client.ts';
import { until } from '../processes/until.ts';
import { S3Server } from '../s3/s3-server.ts';
import { distributedEngines } from './engines-under-test.ts';
import { RunningService } from './running-service.ts';

/** Services of this process on one EventStoreDB (its double) and one S3 server, and a client of theirs. */
export class DistributedNodes implements AsyncDisposable {
  readonly double: EventStoreDbDouble;
  readonly s3: S3Server;
  readonly #times: EventStoreDbTimes;
  readonly #running = new AsyncDisposableStack();

  /** Starts both with short times of the engine: what takes ten seconds in production is over in two. */
  static async start(times: EventStoreDbTimes = {}): Promise<DistributedNodes> {
    // Unpacking a page of a thousand events takes the client longer than the short times allow.
    const double = await EventStoreDbDouble.start({ compresses: false });
    return new DistributedNodes(double, await S3Server.start(), times);
  }

  private constructor(double: EventStoreDbDouble, s3: S3Server, times: EventStoreDbTimes) {
    this.#times = { callTimeout: 2000, longestPause: 100, ...times };
    this.double = this.#running.use(double);
    this.s3 = this.#running.use(s3);
  }

  /** The environment of a service in a separate process. */
  get settings(): Readonly<Record<string, string>> {
    return { DEPOSIT_EVENT_LOG: this.double.connectionString, ...this.s3.settings() };
  }

  /** `s3Port`: port of the store, if not its own. */
  async add(
    roles: readonly Role[],
    { s3Port = this.s3.port, ...overrides }: Partial<Config> & { readonly s3Port?: number } = {},
  ): Promise<RunningService> {
    return this.#running.use(await RunningService.start({ ...this.enginesAt(s3Port), ...overrides, roles }));
  }

  /** Registers alice, who may deposit in `software`; resolves when all these nodes know her. */
  async register(...[first, ...others]: readonly [RunningService, ...RunningService[]]): Promise<TestClient> {
    const alice = await first.register('alice', { collections: ['software'] });
    for (const { url } of others) {
      await until(async () =>
        (await (await alice.get(`${url}/1/servicedocument/`)).text()).includes('/1/software/'),
      );
    }
    return alice;
  }

  /** Returns alice as a client of both nodes, with short pauses after a 503. */
  depositorOver(alice: TestClient, one: RunningService, other = one): RetryingDepositor {
    const { authorization } = alice;
    const nodes = [one.url, other.url] as const;
    return new RetryingDepositor({ nodes, authorization, collection: 'software', longestPause: 50 });
  }

  /** Resolves to the log compared with the answers to the depositor, once all its deposits are done on each node. */
  async outcome(
    depositor: RetryingDepositor,
    ...nodes: readonly RunningService[]
  ): Promise<Judgement & Seen> {
    const statuses = [];
    for (const id of depositor.acknowledged.keys()) {
      for (const { url } of nodes) statuses.push(await depositor.finalStatus(url, id, Infinity));
    }
    const [node] = nodes as readonly [RunningService, ...RunningService[]];
    const judgement = judge(await depositHistories(node.service.log), depositor);
    const { faults, falseMissing } = depositor;
    return { ...judgement, faults, falseMissing, statuses: [...new Set(statuses)] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.double.faults.clear();
    await this.#running.disposeAsync();
  }

  /** Returns settings for a service that is started otherwise; `s3Port`: port of the store. */
  enginesAt(s3Port = this.s3.port): Pick<Config, 'eventLog' | 'archiveStore'> {
    return distributedEngines(this.double, this.s3, { port: s3Port, times: this.#times });
  }
}

type Seen = Pick<RetryingDepositor, 'faults' | 'falseMissing'> & {
  /** The different final statuses. */
  readonly statuses: readonly (string | undefined)[];
};

/** Nothing went wrong, and nothing is left over. */
export const ALL_HELD: Judgement & Seen = {
  lost: [],
  doubled: [],
  orphans: [],
  faults: [],
  falseMissing: 0,
  statuses: ['done'],
};
