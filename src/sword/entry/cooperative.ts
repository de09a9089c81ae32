import { clock } from '../../tools/clock.ts';

/** Work in steps of a few milliseconds at most, with its result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs the steps to the end and yields to the event loop every few milliseconds. */
export async function runCooperatively<Result>(steps: Steps<Result>): Promise<Result> {
  for (let startedAt = clock.monotonic(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monotonic() - startedAt < YIELD_INTERVAL_MS) continue;
    await clock.nextTurn();
    startedAt = clock.monotonic();
  }
}

/** Milliseconds between two yields to the event loop. */
const YIELD_INTERVAL_MS = 5;
