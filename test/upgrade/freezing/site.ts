import path from 'node:path';
import { freePort } from '../../../testing/processes/free-port.ts';
import { startHttpOnly } from './http-only.ts';
import type { Env, OldRelease, OldService } from './old-release.ts';

/** The address in every IRI, so that documents are the same wherever the data is served later. */
export const BASE_URL = 'https://deposit.example';

export type SiteOptions = {
  /** Holds a data folder for each node, and what else the data of this site is. */
  readonly folder: string;
  /** Settings of the engines. Without any they are embedded, and one node does everything. */
  readonly engines: Env;
};

/** Services of the old release on one event log and one archive store, as processes that can be killed. */
export class Site implements AsyncDisposable {
  readonly release: OldRelease;
  readonly #options: SiteOptions;
  #running: OldService[] = [];

  constructor(release: OldRelease, options: SiteOptions) {
    this.release = release;
    this.#options = options;
  }

  get isEmbedded(): boolean {
    return Object.keys(this.#options.engines).length === 0;
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** The data folder of the node that serves clients, also that of commands. */
  get dataDir(): string {
    return path.join(this.folder, this.isEmbedded ? 'data' : 'http');
  }

  get uploadsFolder(): string {
    return path.join(this.dataDir, 'uploads');
  }

  /** Where clients are served. */
  get url(): string {
    const [first] = this.#running;
    if (!first) throw new Error('No service runs.');
    return first.url;
  }

  get env(): Env {
    const { folder, engines } = this.#options;
    const keys = path.join(folder, 'keys');
    return {
      DEPOSIT_BASE_URL: BASE_URL,
      DEPOSIT_OPERATOR: 'rosa',
      DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true',
      DEPOSIT_ANCHOR_FILE: path.join(folder, 'anchors.ndjson'),
      ...engines,
      ...(!this.isEmbedded && {
        DEPOSIT_WEBHOOK_KEY_FILE: path.join(keys, 'webhook-aes256.key'),
        DEPOSIT_ANCHOR_KEY_FILE: path.join(keys, 'anchor-ed25519.pem'),
      }),
    };
  }

  /** Starts a node for clients and, unless it is to be alone, reactors. */
  async start(what: 'everything' | 'http only'): Promise<void> {
    const all = what === 'everything';
    if (!this.isEmbedded) {
      await this.#start('http', { DEPOSIT_ROLES: 'http' });
      if (all) await this.#start('reactors', { DEPOSIT_ROLES: 'reactors' });
    } else if (all) await this.#start('data');
    else this.#running.push(await startHttpOnly(this.release, this.dataDir, this.env));
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Runs a command of the old release; resolves to what it printed. @throws if it failed */
  async run(command: string, args: readonly string[], { input = '', env = {} } = {}): Promise<string> {
    const { runScript } = await this.release.import('test/support/run-script.ts');
    const ran = await runScript(this.dataDir, command, args, { input, env: { ...this.env, ...env } });
    if (ran.code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${ran.code}: ${ran.err}`);
    return ran.out;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #start(name: string, roles: Env = {}): Promise<void> {
    const { ServiceProcess } = await this.release.import('drills/service-process.ts');
    const dataDir = path.join(this.folder, name);
    this.#running.push(await ServiceProcess.start(dataDir, await freePort(), { ...this.env, ...roles }));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#running;
    this.#running = [];
    for (const service of running.toReversed()) await service.end(signal);
  }
}
