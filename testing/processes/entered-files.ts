import { Session } from 'node:inspector';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(import.meta.dirname, '..', '..');

type Coverage = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
};

/** Records which files of this project are entered: a function of theirs is called, in this thread or another one. */
export class EnteredFiles implements Disposable {
  readonly #session = new Session();
  /** The open calls to each worker, by their number. */
  readonly #workers = new Map<string, Map<number, (result: Coverage) => void>>();
  #calls = 0;

  /** Must be started before the workers that it observes. */
  static async start(): Promise<EnteredFiles> {
    const entered = new EnteredFiles();
    await entered.#begin();
    return entered;
  }

  /** Resolves to the files, relative to the root, that were entered since the last call or the start. */
  async take(): Promise<ReadonlySet<string>> {
    const taken = [
      this.#post('Profiler.takePreciseCoverage'),
      ...[...this.#workers.keys()].map((worker) => this.#call(worker, 'Profiler.takePreciseCoverage')),
    ];
    return new Set((await Promise.all(taken)).flatMap(filesIn));
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  async #begin(): Promise<void> {
    this.#session.connect();
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
      this.#workers.set(sessionId, new Map());
      void this.#call(sessionId, 'Profiler.enable');
      void this.#call(sessionId, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      void this.#call(sessionId, 'Runtime.runIfWaitingForDebugger');
    });
    this.#session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
      const open = this.#workers.get(sessionId);
      this.#workers.delete(sessionId);
      for (const resolve of open?.values() ?? []) resolve({ result: [] });
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      const { id, result } = JSON.parse(message) as { id: number; result: Coverage };
      this.#workers.get(sessionId)?.get(id)?.(result);
    });
    await this.#post('Profiler.enable');
    await this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await this.#post('NodeWorker.enable', { waitForDebuggerOnStart: true });
  }

  #post(method: string, params: object = {}): Promise<Coverage> {
    return new Promise((resolve, reject) => {
      this.#session.post(method, params, (error, result) =>
        error ? reject(error) : resolve(result as Coverage),
      );
    });
  }

  async #call(sessionId: string, method: string, params: object = {}): Promise<Coverage> {
    const id = (this.#calls += 1);
    const open = this.#workers.get(sessionId);
    const { promise, resolve } = Promise.withResolvers<Coverage>();
    open?.set(id, resolve);
    const message = JSON.stringify({ id, method, params });
    await this.#post('NodeWorker.sendMessageToWorker', { sessionId, message });
    return promise.finally(() => open?.delete(id));
  }
}

function filesIn({ result }: Coverage): string[] {
  return result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(isCalled))
    .map(({ url }) => path.relative(root, fileURLToPath(url)));
}

/** Whether a function was called; the function without a name at the beginning of a file is its module itself. */
function isCalled({
  functionName,
  ranges: [range],
}: Coverage['result'][number]['functions'][number]): boolean {
  return range !== undefined && range.count > 0 && (functionName !== '' || range.startOffset > 0);
}
