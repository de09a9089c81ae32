import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ProcessFacts } from '../frame/process-facts.ts';
import type { LoadJob, LoadReport } from './load-job.ts';

type Answer = { readonly report: LoadReport } | { readonly fault: string };

/** Runs a load generator as a child process. */
export class LoadProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #running: PromiseWithResolvers<LoadReport> | undefined;

  constructor() {
    const program = path.join(import.meta.dirname, 'load-generator.ts');
    this.#child = fork(program, { serialization: 'advanced' });
    this.#child.on('message', (answer: Answer) => {
      if ('report' in answer) this.#running?.resolve(answer.report);
      else this.#running?.reject(new Error(answer.fault));
    });
    this.#child.on('exit', () => this.#running?.reject(new Error('The load generator ended.')));
  }

  /** Seconds of CPU time that it has used. */
  get cpuSeconds(): number {
    return new ProcessFacts(this.#child.pid as number).cpuSeconds; // it was started
  }

  /** Runs one job; jobs must not overlap. */
  async run(job: LoadJob): Promise<LoadReport> {
    this.#running = Promise.withResolvers();
    this.#child.send(job);
    return this.#running.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }
}
