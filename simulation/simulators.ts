import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HistoryResult } from './history/run-history.ts';
import type { Plan } from './plan/plan.ts';
import type { SimulatorReply, SimulatorRequest } from './simulator-messages.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** Megabytes: most objects of a history have died when such a space is full. */
const SEMI_SPACE = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

export type RunHistory = {
  readonly plan: Plan;
  readonly result: HistoryResult;
  /** Milliseconds of CPU time that it took. */
  readonly cpuMs: number;
};

export type SimulatorsOptions = {
  readonly processes: number;
  /** The folder of the project whose code runs, if it is another one than this. */
  readonly project?: string | undefined;
};

/** Processes that run histories, one at a time each. */
export class Simulators implements AsyncDisposable {
  readonly #processes: readonly ChildProcess[];

  constructor({ processes, project = ROOT }: SimulatorsOptions) {
    this.#processes = Array.from({ length: processes }, () => startSimulator(project));
  }

  /** Calls `onResult` for the history of every seed, in the order in which they end; stops when it returns false. */
  runSeeds(seeds: Iterable<number>, onResult: (history: RunHistory) => boolean): Promise<void> {
    const requests = Iterator.from(seeds).map((seed) => ({ kind: 'seed', seed }) as const);
    return this.#runAll(requests, onResult);
  }

  /** Like {@link runSeeds}, for plans; without a trace. */
  runPlans(plans: Iterable<Plan>, onResult: (history: RunHistory) => boolean): Promise<void> {
    const requests = Iterator.from(plans).map((plan) => ({ kind: 'plan', plan, isTraced: false }) as const);
    return this.#runAll(requests, onResult);
  }

  async #runAll(
    requests: Iterator<SimulatorRequest>,
    onResult: (history: RunHistory) => boolean,
  ): Promise<void> {
    let isOver = false;
    const serve = async (simulator: ChildProcess): Promise<void> => {
      for (let next = requests.next(); !isOver && !next.done; next = requests.next()) {
        const reply = await ask(simulator, next.value);
        if (!isOver && !onResult(asResult(reply))) isOver = true;
      }
    };
    await Promise.all(this.#processes.map(serve));
  }

  /** Runs a plan with a trace. */
  async run(plan: Plan): Promise<HistoryResult> {
    return asResult(await ask(this.#first, { kind: 'plan', plan, isTraced: true })).result;
  }

  /** Resolves to a simpler plan with a violation of the same kind. */
  async shrink(plan: Plan, violation: string): Promise<{ readonly plan: Plan; readonly runs: number }> {
    const reply = await ask(this.#first, { kind: 'shrink', plan, violation });
    if (reply.kind !== 'shrunk') throw new TypeError(`The simulator replied ${reply.kind} to shrink.`);
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ends = this.#processes.map(async (simulator) => {
      if (simulator.exitCode !== null || simulator.signalCode !== null) return;
      const end = once(simulator, 'exit');
      simulator.kill('SIGKILL');
      await end;
    });
    await Promise.all(ends);
  }

  get #first(): ChildProcess {
    return this.#processes[0] as ChildProcess; // there is at least one
  }
}

/** Starts a process that runs histories. It ends when it is disconnected. */
export function startSimulator(project = ROOT): ChildProcess {
  const hooks = pathToFileURL(path.join(project, 'simulation/hooks.ts')).href;
  const execArgv = ['--stack-trace-limit=0', ...SEMI_SPACE, '--import', hooks];
  return fork(path.join(project, 'simulation/simulator.ts'), { execArgv, serialization: 'advanced' });
}

function asResult(reply: SimulatorReply): RunHistory {
  if (reply.kind !== 'result') throw new TypeError(`The simulator replied ${reply.kind} to a history.`);
  return reply;
}

/** @throws {Error} the simulator failed or ended. */
async function ask(simulator: ChildProcess, request: SimulatorRequest): Promise<SimulatorReply> {
  const { promise, resolve, reject } = Promise.withResolvers<SimulatorReply>();
  const onExit = (): void =>
    reject(new Error(`A simulator ended during ${JSON.stringify(request).slice(0, 200)}.`));
  simulator.once('message', (message) => resolve(message as SimulatorReply));
  simulator.once('exit', onExit);
  simulator.send(request);
  const reply = await promise.finally(() => {
    simulator.removeAllListeners('message');
    simulator.off('exit', onExit);
  });
  if (reply.kind === 'error') throw new Error(`A simulator failed: ${reply.text}`);
  return reply;
}
