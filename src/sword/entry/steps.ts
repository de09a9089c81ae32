import { clock } from '../../tools/clock.ts';

/** Work in steps of which each takes a few milliseconds at most, and what comes of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Takes them without keeping others from their turn for longer than a few milliseconds, however many there are. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (let began = clock.monotonic(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monotonic() - began < TURN) continue;
    await clock.nextTurn();
    began = clock.monotonic();
  }
}

/** Milliseconds after which it is the turn of others. */
const TURN = 5;
