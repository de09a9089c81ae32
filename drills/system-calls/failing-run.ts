import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../testing/processes/free-port.ts';
import { AnsweredDeposits, lostOf, newTar } from '../clients/answered-deposits.ts';
import type { Finding } from '../frame/drill.ts';
import { unsettled } from '../service/drilled-service.ts';
import { everythingVerified } from '../service/everything-verified.ts';
import { threadsNamed } from '../service/process-facts.ts';
import { ServiceProcess } from '../service/service-process.ts';
import type { FailingCall } from './failing-calls.ts';
import { Strace } from './strace.ts';

/** Milliseconds for the service to be ready again. */
const TIME_LIMIT_MS = 15_000;

/** One service, or several in succession if a failure ended it, and all its answers. */
export class FailingRun implements AsyncDisposable {
  readonly deposits: AnsweredDeposits;
  readonly broken: string[] = [];
  readonly #dataDir: string;
  readonly #port: number;
  service: ServiceProcess;
  failures = 0;
  #ends = 0;

  static async start(dataDir: string): Promise<FailingRun> {
    const port = await freePort();
    return new FailingRun(dataDir, port, await ServiceProcess.start(dataDir, port));
  }

  private constructor(dataDir: string, port: number, service: ServiceProcess) {
    this.#dataDir = dataDir;
    this.#port = port;
    this.service = service;
    this.deposits = new AnsweredDeposits(service.url);
  }

  get summary(): string {
    const refused = this.deposits.counts.get(503) ?? 0;
    return `${this.failures} failed calls, ${this.deposits.acknowledged.size} creates acknowledged, ${refused} refused`;
  }

  /** @returns whether any call was made to fail */
  async fail(call: FailingCall, error: string, when: string): Promise<boolean> {
    const { pid } = this.service;
    const threads = await threadsNamed(pid, call.threads);
    const paths = call.paths.flatMap((file) => ['-P', path.join(this.#dataDir, file)]);
    const inject = ['-e', `trace=${call.calls}`, '-e', `inject=${call.calls}:error=${error}:when=${when}`];
    const strace = await Strace.attach(threads, [...paths, ...inject]);
    await Promise.all([
      call.work?.(this.service.url),
      this.deposits.deposit(newTar(2_000)),
      this.deposits.deposit(newTar(300_000)),
      this.deposits.deposit(newTar(300_000), { isComplete: true }),
    ]);
    await pause(call.after ?? 0);
    const failed = (await strace.detach()).split('(INJECTED)').length - 1;
    this.failures += failed;
    await this.#goesOn(`${error} at ${call.name}, ${when}`);
    return failed > 0;
  }

  async finding(failing: readonly FailingCall[]): Promise<Finding> {
    const open = await unsettled(this.#dataDir, 60_000);
    const code = await this.service.end('SIGTERM');
    const lost = await lostOf(this.deposits, this.#dataDir);
    const leftOver = await readdir(path.join(this.#dataDir, 'archives', 'incoming'));
    const broken = [
      ...this.broken,
      ...this.deposits.faults,
      ...lost,
      ...open.map((stream) => `The deposit of ${stream} did not come to its end.`),
      ...(code === 0 ? [] : [`At last the service ended with ${code}: ${this.service.said}`]),
      ...(await everythingVerified(this.#dataDir)),
    ];
    return {
      tried: `${this.failures} calls were made to fail with EIO or ENOSPC: ${failing.map(({ what }) => what).join(', ')}.`,
      held: 'Every create was answered 201 with whole bytes or 503, the service continued or ended with 1 and started again, nothing acknowledged was lost, verify --all proved everything; after a failed sync of the log only rewritten events were acknowledged.',
      broken,
      numbers: {
        'calls failed': this.failures,
        acknowledged: this.deposits.acknowledged.size,
        refused: this.deposits.counts.get(503) ?? 0,
        lost: lost.length,
        'ended and started again': this.#ends,
        'temporary files': leftOver.length,
      },
    };
  }

  /** When the disk works again: checks that it is ready, or has exited with 1 and a reason and starts again. */
  async #goesOn(after: string): Promise<void> {
    const deadline = performance.now() + TIME_LIMIT_MS;
    while (!this.service.hasEnded && performance.now() < deadline) {
      if (await this.service.isReady()) return;
      await pause(20);
    }
    if (!this.service.hasEnded) {
      const answer = await fetch(`${this.service.url}/health/ready`);
      this.broken.push(`After ${after} the service was not ready again: ${await answer.text()}`);
      await this.service.end('SIGKILL');
    } else {
      this.#ends += 1;
      const code = await this.service.ended();
      if (code !== 1 || !this.service.said.includes('the service cannot continue'))
        this.broken.push(`After ${after} the service ended with ${code}: ${this.service.said}`);
    }
    this.service = await ServiceProcess.start(this.#dataDir, this.#port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }
}
