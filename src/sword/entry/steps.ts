import { setImmediate } from 'node:timers/promises';

/** Work in steps of which each takes a few milliseconds at most, and what comes of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Takes them without keeping others from their turn for longer than a few milliseconds, however many there are. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (let began = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - began < TURN) continue;
    await setImmediate();
    began = performance.now();
  }
}

/** Milliseconds after which it is the turn of others. */
const TURN = 5;
