import { setTimeout as pause } from 'node:timers/promises';
import type { Operation } from './operation.ts';
import type { RecordedRequests, Target } from './recorded-requests.ts';

const FINAL: ReadonlySet<string> = new Set(['partial', 'done', 'rejected', 'failed', '404']);

export type LastReadsOptions = {
  readonly requests: RecordedRequests;
  readonly targets: readonly Target[];
  /** The deposits that clients know of. */
  readonly known: readonly number[];
  readonly client: number;
  /** For all deposits to come to their end, in milliseconds. */
  readonly timeLimit: number;
};

/**
 * Reads every deposit at every node when all faults are over and the deposits are at their end, also those whose clients
 * were never answered. Resolves to what is wrong, a sentence each.
 */
export async function lastReads(options: LastReadsOptions): Promise<string[]> {
  const { requests, targets, known, client, timeLimit } = options;
  const deadline = performance.now() + timeLimit;
  const listed = await inTheEnd(() => requests.listed((targets[0] as Target).url), deadline);
  const faults: string[] = [];
  for (const deposit of new Set([...known, ...listed])) {
    const read = async (target: Target) => {
      const status = await lastStatus(
        () => requests.send({ kind: 'status', deposit }, target, client),
        deadline,
      );
      if (!FINAL.has(status)) faults.push(`Deposit ${deposit} is ${status} at ${target.name} in the end.`);
      await requests.send({ kind: 'receipt', deposit }, target, client);
    };
    await Promise.all(targets.map(read));
  }
  return faults;
}

/** Resolves to the final status, `404` for a deposit that was deleted, or the status at the deadline. */
async function lastStatus(read: () => Promise<Operation>, deadline: number): Promise<string> {
  for (;;) {
    const { shown, code } = await read();
    const status = shown?.status ?? String(code);
    if (FINAL.has(status) || performance.now() > deadline) return status;
    await pause(200);
  }
}

/** Repeats what fails until the deadline. */
async function inTheEnd<Result>(work: () => Promise<Result>, deadline: number): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(200);
    }
  }
}
