import type { Transferable, Worker, WorkerOptions } from 'node:worker_threads';
import { endedWith, reportLost, startThread } from '../workers.ts';

/** The form in which a program gets a request; it answers with an {@link Answer}, in a list of one or more. */
export type Call<Request> = { readonly call: number; readonly request: Request };

export type Answer<Reply> =
  | { readonly call: number; readonly reply: Reply }
  | { readonly call: number; readonly fault: Fault };

/** An error as it is sent between threads, which would lose its codes. */
type Fault = { readonly message: string; readonly code?: unknown; readonly errcode?: unknown };

/** Returns the error with which a call rejects; `hasEnded` if the thread ended or could not start. */
type ToError = (cause: unknown, hasEnded: boolean) => unknown;

/**
 * Calls a worker thread, which starts with the first call. After a crash the next call starts it again. All open calls
 * of a crashed worker reject. An idle worker does not keep the process alive.
 */
export class WorkerClient<Request, Reply> implements AsyncDisposable {
  readonly #program: URL;
  readonly #toError: ToError;
  readonly #options: WorkerOptions & { readonly name: string };
  readonly #open = new Map<number, PromiseWithResolvers<Reply>>();
  #worker: Worker | undefined;
  #calls = 0;
  #closed = false;

  constructor(program: URL, toError: ToError, options: WorkerOptions & { readonly name: string }) {
    this.#program = program;
    this.#toError = toError;
    this.#options = options;
  }

  /** @throws the error of a worker that crashed or answered with a fault */
  async call(request: Request, transfer: Transferable[] = []): Promise<Reply> {
    if (this.#closed) throw this.#toError(new Error('it is closed'), true);
    const worker = (this.#worker ??= this.#start());
    const call = ++this.#calls;
    const settled = Promise.withResolvers<Reply>();
    worker.postMessage({ call, request } satisfies Call<Request>, transfer);
    this.#open.set(call, settled);
    worker.ref();
    return settled.promise;
  }

  /** Whether the thread was started and has not ended. */
  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Has the thread, if it runs, close what it has open, and ends it. What was answered must be durable without that. */
  async closeBy(request: Request): Promise<void> {
    if (this.isRunning) await this.call(request).catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = this.#startWorker();
    worker.on('message', (answers: Answer<Reply>[]) => this.#settle(worker, answers));
    worker.on('error', (cause) => this.#lose(worker, cause as Error)); // others are not thrown in the threads
    worker.on('exit', (code) => this.#lose(worker, endedWith(code)));
    return worker;
  }

  #startWorker(): Worker {
    try {
      return startThread(this.#program, this.#options);
    } catch (cause) {
      throw this.#toError(cause, true); // the system has no thread left
    }
  }

  #settle(worker: Worker, answers: Answer<Reply>[]): void {
    for (const answer of answers) {
      const settled = this.#open.get(answer.call);
      this.#open.delete(answer.call);
      if ('reply' in answer) settled?.resolve(answer.reply);
      else
        settled?.reject(this.#toError(Object.assign(new Error(answer.fault.message), answer.fault), false));
    }
    if (this.#open.size === 0 && !this.#closed) worker.unref(); // the end of a closed one is awaited
  }

  #lose(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    if (!this.#closed) reportLost(this.#options.name, cause);
    const lost = [...this.#open.values()];
    this.#open.clear();
    for (const settled of lost) settled.reject(this.#toError(cause, true));
  }
}

/** Returns the answer to a call: what `work` returns, or its error. */
export function answerTo<Reply>(call: Call<unknown>, work: () => Reply): Answer<Reply> {
  return answersTo([call], () => [work()])[0] as Answer<Reply>; // one for each call
}

/** Returns the answers to calls that share a transaction: what `work` returns for each of them, or its error for all. */
export function answersTo<Reply>(
  calls: readonly Call<unknown>[],
  work: () => readonly Reply[],
): Answer<Reply>[] {
  try {
    const replies = work();
    return calls.map(({ call }, index) => ({ call, reply: replies[index] as Reply })); // one for each call
  } catch (error) {
    return calls.map(({ call }) => ({ call, fault: faultOf(error) }));
  }
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return { message: error.message, code, errcode };
}
