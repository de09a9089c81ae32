import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { type Ran, runScript } from '../../testing/processes/run-script.ts';
import { distributedEngines } from '../../testing/service/engines-under-test.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import type { Expected, FrozenDeposit } from './expected.ts';
import { Fixture, type FrozenCommit, frozenSettings } from './fixture.ts';
import { unpackInto } from './fixture-archive.ts';
import { FrozenReceivers } from './frozen-receivers.ts';
import { doubleWith, s3With } from './load-engines.ts';
import { type DumpedGroup, unpackedEvents } from './log-dump.ts';

/** The place of frozen data, and how the nodes of the current release are started on it. */
type Site = {
  readonly dataDir: string;
  readonly settings: Partial<Config>;
  /** Settings of commands. */
  readonly env: Record<string, string>;
  /** Data folders of the nodes that have reactors alone. */
  readonly reactorDirs: readonly string[];
};

/** Nodes of the current release on data that another release has frozen, and the receivers of its clients. */
export class UpgradedService implements AsyncDisposable {
  readonly fixture: Fixture;
  readonly expected: Expected;
  readonly receivers: FrozenReceivers;
  readonly service: RunningService;
  readonly #site: Site;
  readonly #resources: AsyncDisposableStack;

  static async embedded(commit: FrozenCommit): Promise<UpgradedService> {
    const fixture = new Fixture(commit, 'embedded');
    await using resources = new AsyncDisposableStack();
    const dataDir = await scratch(resources);
    await unpackInto(dataDir, fixture.read('data.tar.gz'));
    const settings = frozenSettings(fixture.expected, path.join(dataDir, 'keys', 'webhook-aes256.key'));
    const site = { dataDir, settings, env: {}, reactorDirs: [] };
    return await UpgradedService.#start(fixture, site, resources.move());
  }

  /** Starts a node for clients and one of reactors, on the double and the S3 server. */
  static async distributed(commit: FrozenCommit): Promise<UpgradedService> {
    const fixture = new Fixture(commit, 'distributed');
    await using resources = new AsyncDisposableStack();
    const [nodes, bucket] = [await scratch(resources), await scratch(resources)];
    await unpackInto(nodes, fixture.read('nodes.tar.gz'));
    await unpackInto(bucket, fixture.read('bucket.tar.gz'));
    const groups = JSON.parse(fixture.read('groups.json').toString()) as readonly DumpedGroup[];
    const double = resources.use(await doubleWith(unpackedEvents(fixture.read('log.ndjson.gz')), groups));
    const s3 = resources.use(await s3With('deposits', bucket));
    const [webhookKey, anchorKey] = ['webhook-aes256.key', 'anchor-ed25519.pem'].map((name) =>
      path.join(nodes, 'keys', name),
    ) as [string, string];
    const settings = {
      ...frozenSettings(fixture.expected, webhookKey),
      ...distributedEngines(double, s3, { times: { callTimeout: 1000, longestPause: 100 } }),
    };
    const env = {
      DEPOSIT_EVENT_LOG: double.connectionString,
      ...s3.settings(),
      DEPOSIT_WEBHOOK_KEY_FILE: webhookKey,
      DEPOSIT_ANCHOR_KEY_FILE: anchorKey,
    };
    const [dataDir, reactors] = [path.join(nodes, 'http'), path.join(nodes, 'reactors')];
    const site = { dataDir, settings, env, reactorDirs: [reactors] };
    return await UpgradedService.#start(fixture, site, resources.move());
  }

  static async #start(
    fixture: Fixture,
    site: Site,
    resources: AsyncDisposableStack,
  ): Promise<UpgradedService> {
    const { expected } = fixture;
    const { dataDir, settings, reactorDirs } = site;
    const receivers = resources.use(await FrozenReceivers.start(expected));
    const roles = reactorDirs.length > 0 ? ({ roles: ['http'] } as const) : {};
    const service = resources.use(await RunningService.startIn(dataDir, { ...settings, ...roles }));
    for (const folder of reactorDirs) {
      await mkdir(folder, { recursive: true });
      resources.use(await RunningService.startIn(folder, { ...settings, roles: ['reactors'] }));
    }
    return new UpgradedService(fixture, { receivers, service, site }, resources);
  }

  private constructor(
    fixture: Fixture,
    { receivers, service, site }: { receivers: FrozenReceivers; service: RunningService; site: Site },
    resources: AsyncDisposableStack,
  ) {
    this.fixture = fixture;
    this.expected = fixture.expected;
    this.receivers = receivers;
    this.service = service;
    this.#site = site;
    this.#resources = resources;
  }

  client(name: string): TestClient {
    return new TestClient(this.service.url, name, this.expected.password);
  }

  deposit(label: string): Expected['deposits'][number] {
    const found = this.expected.deposits.find((deposit) => deposit.label === label);
    if (!found) throw new Error(`No deposit was frozen as ${label}.`);
    return found;
  }

  /** Runs a command as an operator of the node that serves clients. */
  run(command: string, ...args: readonly string[]): Promise<Ran> {
    return runScript(this.#site.dataDir, command, args, { env: this.#site.env });
  }

  async statusOf(deposit: FrozenDeposit): Promise<Readonly<Record<string, unknown>>> {
    const headers = { Accept: 'application/json' };
    const answer = await this.client(deposit.client).get(`${pathOf(deposit)}status/`, headers);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

export function pathOf({ collection, depositId }: FrozenDeposit): string {
  return `/1/${collection}/${depositId}/`;
}

async function scratch(resources: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'upgrade-'));
  resources.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
