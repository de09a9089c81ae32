import type { OldConfig, OldEvent, OldLog, OldReactor, OldRelease } from './old-release.ts';
import type { Site } from './site.ts';

/**
 * Single steps of the reactors of the old release, on the log of a site: each is done by the release's own reactor, as
 * by a node that was killed right after it.
 */
export class ReactorSteps {
  readonly #release: OldRelease;
  readonly #log: OldLog;
  readonly #checker: OldReactor;
  readonly #loader: OldReactor;

  /** Opens the engines for as long as `work` takes. */
  static async on(site: Site, work: (steps: ReactorSteps) => Promise<void>): Promise<void> {
    const { release } = site;
    const { readConfig } = await release.import('src/config.ts');
    const { openLog, openStore } = await release.import('src/engines.ts');
    const { ArchiveWorkers } = await release.import('src/archives/threads/archive-workers.ts');
    const config = readConfig({ ...site.env, DEPOSIT_DATA_DIR: site.dataDir });
    await using log = await openLog(config);
    await using store = await openStore(config);
    const onAborted = (error: unknown) => console.error(error);
    const overlayTime = config.archiveLimits.wallTime;
    await using workers = new ArchiveWorkers({ size: 1, overlayTime, onAborted });
    await work(new ReactorSteps(release, log, await reactorsOf(release, { config, log, store, workers })));
  }

  private constructor(release: OldRelease, log: OldLog, { checker, loader }: Reactors) {
    this.#release = release;
    this.#log = log;
    this.#checker = checker;
    this.#loader = loader;
  }

  /** Brings a deposit from `deposited` to `verified`. */
  async check(depositId: number): Promise<void> {
    await this.#checker.react(
      await this.eventOf(depositId, 'DepositCompleted'),
      new AbortController().signal,
    );
  }

  /** Brings a deposit from `verified` to `loading`, as a loader that is killed before it has an outcome. */
  async startLoading(depositId: number): Promise<void> {
    const { execute } = await this.#release.import('src/command-handler.ts');
    const { deposits } = await this.#release.import('src/domain/aggregates.ts');
    const { causedBy } = await this.#release.import('src/reactors/causation.ts');
    const event = await this.eventOf(depositId, 'DepositVerified');
    const command = { type: 'StartLoading', depositId, attempt: 1 };
    await execute(this.#log, deposits, depositId, command, causedBy(event, 'loader', 'start/1'));
  }

  /** Brings a deposit from `verified` to `failed`. */
  async failLoading(depositId: number): Promise<void> {
    const fault = Object.assign(new Error('The listing cannot be read.'), { code: 'EIO' });
    await this.#loader.giveUp(await this.eventOf(depositId, 'DepositVerified'), fault);
  }

  async park(reactor: string, depositId: number, type: string): Promise<OldEvent> {
    const { LogParking } = await this.#release.import('src/reactors/parking.ts');
    const event = await this.eventOf(depositId, type);
    await new LogParking(this.#log).park(reactor, event, new Error('The archive could not be read: EIO.'));
    return event;
  }

  /** Resolves to the last event of this type in the stream of the deposit. */
  async eventOf(depositId: number, type: string): Promise<OldEvent> {
    const events = await Array.fromAsync(this.#log.readStream(`deposit-${depositId}`));
    const found = events.findLast((event) => event.type === type);
    if (!found) throw new Error(`Deposit ${depositId} has no event ${type}.`);
    return found;
  }
}

type Reactors = { readonly checker: OldReactor; readonly loader: OldReactor };
type Parts = {
  readonly config: OldConfig;
  readonly log: OldLog;
  readonly store: unknown;
  readonly workers: unknown;
};

async function reactorsOf(release: OldRelease, { config, log, store, workers }: Parts): Promise<Reactors> {
  const { Checker } = await release.import('src/reactors/checker.ts');
  const { Loader } = await release.import('src/reactors/loader.ts');
  return {
    checker: new Checker(log, store, workers, config.archiveLimits),
    loader: new Loader(log, store, workers, config.loaderIdentity),
  };
}
