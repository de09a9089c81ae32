import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../testing/processes/free-port.ts';
import { AnsweredDeposits, lostOf, newTar } from '../clients/answered-deposits.ts';
import { printProgress } from '../frame/drill.ts';
import { registerDrill, scratchFolder, unsettled } from '../service/drilled-service.ts';
import { notReadyBecause } from '../service/readiness.ts';
import { ServiceProcess } from '../service/service-process.ts';
import { type Engine, EngineProcesses } from './engine-processes.ts';
import { type TcpFault, TcpFaultProxy } from './tcp-fault-proxy.ts';

/** The ways in which an engine fails; `silent`: its process is stopped. */
export const AWAYS = ['refused', 'reset', 'silent', 'slow'] as const;
export type Away = (typeof AWAYS)[number];

export type OutageFound = {
  readonly broken: readonly string[];
  readonly numbers: Readonly<
    Record<'acknowledged' | 'refused' | 'lost' | 'stuck' | 'longest' | 'back', number>
  >;
};

const WRITERS = 3;
/** Time limits for one request, whatever the engine does, and for the service to recover, in milliseconds. */
const [BOUND, TIME_LIMIT_MS] = [60_000, 60_000];
/** Names of the engines in readiness. */
const NAMES: Readonly<Record<Engine, RegExp>> = { log: /event log/, store: /archive store/ };

/** A service whose engines are processes behind connections that can fail, under load from its beginning. */
export class EngineOutage implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #parts: Parts;
  readonly #deposits: AnsweredDeposits;
  readonly #load: Promise<unknown>;
  readonly #broken: string[] = [];
  #isOver = false;
  #longest = 0;
  #back = 0;

  /** `minio`: the program of a real MinIO that is used as the store. */
  static async prepare(engine: Engine, minio?: string): Promise<EngineOutage> {
    await using opened = new AsyncDisposableStack();
    const { path: dataDir } = opened.use(await scratchFolder(`away-${engine}`));
    const engines = opened.use(await EngineProcesses.start({ minio }));
    const setting = engine === 'log' ? 'DEPOSIT_EVENT_LOG' : 'DEPOSIT_ARCHIVE_STORE';
    const direct = engines.settings[setting] ?? '';
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(direct)?.[1]);
    const connection = opened.use(await TcpFaultProxy.to(port));
    await registerDrill(dataDir, engines.settings);
    const env = { ...engines.settings, [setting]: direct.replace(`:${port}`, `:${connection.port}`) };
    const service = opened.use(await ServiceProcess.start(dataDir, await freePort(), env));
    return new EngineOutage(engine, { dataDir, engines, connection, service, opened: opened.move() });
  }

  private constructor(engine: Engine, parts: Parts) {
    this.#engine = engine;
    this.#parts = parts;
    this.#deposits = new AnsweredDeposits(parts.service.url, [503]);
    this.#load = Promise.all(Array.from({ length: WRITERS }, (_, writer) => this.#write(writer)));
  }

  /** Makes the engine fail for this number of seconds; resolves when the service has recovered. */
  async take(away: Away, seconds: number): Promise<void> {
    const { service, engines, connection } = this.#parts;
    await pause(1000); // load without a fault
    if (away === 'silent') engines.freeze(this.#engine);
    else await connection.inject(away satisfies TcpFault);
    await pause(seconds * 1000);
    const readiness = await notReadyBecause(service.url);
    if (away === 'silent') engines.thaw(this.#engine);
    else await connection.inject('none');
    const back = await this.#goesOn();
    printProgress(
      `the ${this.#engine} was ${away} for ${seconds} s: ${readiness || 'still ready'}; recovery: ${typeof back === 'string' ? `none: ${back}` : `after ${Math.round(back)} ms`}; ${this.#deposits.acknowledged.size} acknowledged, ${this.#deposits.counts.get(503) ?? 0} answers 503`,
    );
    if (away !== 'slow' && !NAMES[this.#engine].test(readiness))
      this.#broken.push(`While the ${this.#engine} was ${away}, readiness said: ${readiness || 'ready'}.`);
    if (typeof back === 'string')
      this.#broken.push(`After the ${this.#engine} had been ${away}, the service did not recover: ${back}.`);
    this.#back = Math.max(this.#back, typeof back === 'string' ? TIME_LIMIT_MS : back);
  }

  /** Ends the load and checks all deposits. */
  async found(): Promise<OutageFound> {
    const { dataDir, engines, service } = this.#parts;
    this.#isOver = true;
    await this.#load;
    const open = await unsettled(dataDir, TIME_LIMIT_MS, engines.settings);
    const lost = await lostOf(this.#deposits, dataDir, engines.settings);
    const code = await service.end('SIGTERM');
    return {
      broken: [
        ...this.#broken,
        ...this.#deposits.faults,
        ...lost,
        ...open.map((stream) => `The deposit of ${stream} did not come to its end.`),
        ...(this.#longest > BOUND ? [`A request was answered after ${Math.round(this.#longest)} ms.`] : []),
        ...(code === 0 ? [] : [`The service ended with ${code}: ${service.said}`]),
      ],
      numbers: {
        acknowledged: this.#deposits.acknowledged.size,
        refused: this.#deposits.counts.get(503) ?? 0,
        lost: lost.length,
        stuck: open.length,
        longest: this.#longest,
        back: this.#back,
      },
    };
  }

  async #write(writer: number): Promise<void> {
    for (let turn = writer; !this.#isOver; turn += 1) {
      const bytes = turn % 3 === 0 ? 300_000 : 2_000;
      const { ms, status } = await this.#deposits.deposit(newTar(bytes), {
        isComplete: true,
        timeLimit: 120_000,
      });
      this.#longest = Math.max(this.#longest, ms);
      await pause(status === 201 ? 100 : 500); // a higher rate would load a machine that others use, too
    }
  }

  /**
   * Resolves to the milliseconds until it accepts a deposit and is ready, or to what was missing after the time limit.
   */
  async #goesOn(): Promise<number | string> {
    const begun = performance.now();
    let [missing, isTaken] = ['it took no deposit', false];
    while (performance.now() - begun < TIME_LIMIT_MS) {
      isTaken ||=
        (await this.#deposits.deposit(newTar(2_000), { isComplete: true, timeLimit: 120_000 })).status ===
        201;
      if (isTaken) missing = await notReadyBecause(this.#parts.service.url);
      if (missing === '') return performance.now() - begun;
      await pause(100);
    }
    return missing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#parts.opened.disposeAsync();
  }
}

type Parts = {
  readonly dataDir: string;
  readonly engines: EngineProcesses;
  readonly connection: TcpFaultProxy;
  readonly service: ServiceProcess;
  readonly opened: AsyncDisposableStack;
};
