import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { type Logger, silentLogger } from '../../src/tools/logger.ts';
import { TestClient } from '../http/test-client.ts';
import { until } from '../processes/until.ts';
import { enginesFor, stopEnginesFor } from './engines-under-test.ts';
import { QUICK_COST, quickCredential } from './secret-password.ts';

/** A service on a free port and a temporary folder, and its clients. */
export class RunningService implements AsyncDisposable {
  service: Service;
  readonly folder: string;
  readonly #overrides: Partial<Config>;
  readonly #logger: Logger;

  static async start(overrides: Partial<Config> = {}, logger?: Logger): Promise<RunningService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'deposit-'));
    return RunningService.startIn(folder, overrides, logger);
  }

  /** Starts on a folder that may have been used before. */
  static async startIn(
    folder: string,
    overrides: Partial<Config> = {},
    logger: Logger = silentLogger,
  ): Promise<RunningService> {
    return new RunningService(await serviceIn(folder, overrides, logger), folder, overrides, logger);
  }

  private constructor(service: Service, folder: string, overrides: Partial<Config>, logger: Logger) {
    this.service = service;
    this.folder = folder;
    this.#overrides = overrides;
    this.#logger = logger;
  }

  get url(): string {
    return this.service.url;
  }

  get administration(): AdminCommands {
    return new AdminCommands(this.service.log, { kind: 'operator', name: 'test' });
  }

  /** Registers a client with the password `secret`; resolves when the running service knows it. */
  async register(
    name: string,
    options: {
      readonly collections?: readonly string[];
      readonly domain?: string;
      readonly providerUrl?: string;
    } = {},
  ): Promise<TestClient> {
    const { administration } = this;
    await administration.client({ type: 'RegisterClient', client: name, credential: quickCredential });
    if (options.domain)
      await administration.client({ type: 'SetDomain', client: name, domain: options.domain });
    const { providerUrl } = options;
    if (providerUrl) await administration.client({ type: 'SetProviderUrl', client: name, providerUrl });
    for (const collection of options.collections ?? []) await administration.grant(name, collection);
    const client = new TestClient(this.url, name);
    const expected = options.collections?.at(-1);
    await until(async () => {
      const answer = await client.get('/1/servicedocument/');
      const body = await answer.text();
      return answer.status === 200 && (expected === undefined || body.includes(`/1/${expected}/`));
    });
    return client;
  }

  /** Starts on the same folder, after {@link stop}, with changed settings if any are given. */
  async startAgain(changed: Partial<Config> = {}): Promise<void> {
    this.service = await serviceIn(this.folder, { ...this.#overrides, ...changed }, this.#logger);
  }

  /** Stops the service but keeps its folder. */
  async stop(): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await stopEnginesFor(this.folder);
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function serviceIn(folder: string, overrides: Partial<Config>, logger: Logger): Promise<Service> {
  const config = { ...readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: folder }), passwordCost: QUICK_COST };
  const engines = await enginesFor(folder);
  const service = await startService({ ...config, ...engines, ...overrides }, { logger });
  try {
    await service.ready;
  } catch (error) {
    await service[Symbol.asyncDispose](); // left running, it would prevent the process of the test from ending
    throw error;
  }
  return service;
}
