import { type Transferable, Worker } from 'node:worker_threads';
import { workers } from '../tools/workers.ts';
import { unavailable } from './store-errors.ts';

export type Call<Request> = { readonly call: number; readonly request: Request };

export type Answer<Reply> =
  | { readonly call: number; readonly reply: Reply }
  | { readonly call: number; readonly fault: Fault };

/** An error as it is sent between threads, which would lose its `code`. */
export type Fault = { readonly message: string; readonly code: string | undefined };

/**
 * Limits of these threads, which pass buffers on and create few objects: a large young generation would only
 * stay resident.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4 };

/**
 * Calls a worker thread, which starts with the first call and is restarted after a crash. All open calls of a
 * crashed worker reject. An idle worker does not keep the process alive.
 */
export class WorkerClient<Request, Reply> implements AsyncDisposable {
  readonly #program: URL;
  readonly #workerData: unknown;
  readonly #purpose: string;
  readonly #open = new Map<number, PromiseWithResolvers<Reply>>();
  #worker: Worker | undefined;
  #calls = 0;
  #closed = false;

  /** @param purpose completes the sentence “The archive store cannot …”. */
  constructor(program: URL, purpose: string, workerData?: unknown) {
    this.#program = program;
    this.#purpose = purpose;
    this.#workerData = workerData;
  }

  /** @throws {ObjectStoreUnavailable} the worker crashed or answered with a fault. */
  async call(request: Request, transfer: Transferable[] = []): Promise<Reply> {
    if (this.#closed) throw unavailable(this.#purpose, new Error('it is closed'));
    const worker = (this.#worker ??= this.#start());
    const call = ++this.#calls;
    const settled = Promise.withResolvers<Reply>();
    worker.postMessage({ call, request } satisfies Call<Request>, transfer);
    this.#open.set(call, settled);
    worker.ref();
    return settled.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = workers.start(this.#program, {
      workerData: this.#workerData,
      resourceLimits: RESOURCE_LIMITS,
    });
    worker.on('message', (answers: Answer<Reply>[]) => this.#settle(worker, answers));
    worker.on('error', (cause) => this.#lose(worker, cause));
    worker.on('exit', (code) => this.#lose(worker, new Error(`the worker thread ended with code ${code}`)));
    return worker;
  }

  #settle(worker: Worker, answers: Answer<Reply>[]): void {
    for (const answer of answers) {
      const settled = this.#open.get(answer.call);
      this.#open.delete(answer.call);
      if ('reply' in answer) settled?.resolve(answer.reply);
      else settled?.reject(unavailable(this.#purpose, errorOf(answer.fault)));
    }
    if (this.#open.size === 0 && !this.#closed) worker.unref(); // the end of a closed one is awaited
  }

  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const lost = [...this.#open.values()];
    this.#open.clear();
    for (const settled of lost) settled.reject(unavailable(this.#purpose, cause));
  }
}

export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  return { message: error.message, code: 'code' in error ? String(error.code) : undefined };
}

function errorOf({ message, code }: Fault): Error {
  return Object.assign(new Error(message), { code });
}
