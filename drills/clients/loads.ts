import type { EventLog } from '../../src/event-log/event-log.ts';

export type Loads = Disposable & {
  /** Number of deposits that are being loaded now. */
  readonly loading: number;
  readonly done: number;
};

/** Counts, from the log, what is being loaded and what is done, until it is disposed of. */
export function followLoads(log: EventLog): Loads {
  const stop = new AbortController();
  const loading = new Set<string>();
  const done = new Set<string>();
  void count().catch((error: unknown) => process.stderr.write(`following the log ended: ${String(error)}\n`));
  return {
    get loading() {
      return loading.size;
    },
    get done() {
      return done.size;
    },
    [Symbol.dispose]: () => stop.abort(),
  };

  async function count(): Promise<void> {
    for await (const message of log.subscribe({ streamPrefixes: ['deposit-'], signal: stop.signal })) {
      for (const { type, stream } of message.kind === 'events' ? message.events : []) {
        if (type === 'LoadingStarted') loading.add(stream);
        if (type !== 'DepositLoaded') continue;
        loading.delete(stream);
        done.add(stream);
      }
    }
  }
}
