import { setTimeout as pause } from 'node:timers/promises';
import type { RecordedRequests, Target } from './recorded-requests.ts';

const FINAL: ReadonlySet<string | undefined> = new Set(['partial', 'done', 'rejected', 'failed', undefined]);

export type LastReadsOptions = {
  readonly requests: RecordedRequests;
  readonly targets: readonly Target[];
  readonly client: number;
  /** For all deposits to come to their end, in milliseconds. */
  readonly timeLimit: number;
};

/**
 * Reads every deposit at every node when all faults are over and the deposits are at their end, also those whose clients
 * were never answered. Resolves to what is wrong, a sentence each.
 */
export async function lastReads(options: LastReadsOptions): Promise<string[]> {
  const { requests, targets, client, timeLimit } = options;
  const deadline = performance.now() + timeLimit;
  const faults: string[] = [];
  for (const deposit of await requests.listed((targets[0] as Target).url)) {
    for (const target of targets) {
      for (;;) {
        const { shown, code } = await requests.send({ kind: 'status', deposit }, target, client);
        const isAnswered = code !== 0 && code < 500;
        if (isAnswered && FINAL.has(shown?.status)) break;
        if (performance.now() > deadline) {
          faults.push(
            `Deposit ${deposit} is ${shown?.status ?? `answered ${code}`} at ${target.name} in the end.`,
          );
          break;
        }
        await pause(200);
      }
      await requests.send({ kind: 'receipt', deposit }, target, client);
    }
  }
  return faults;
}
