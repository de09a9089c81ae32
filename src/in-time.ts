import { clock } from './tools/clock.ts';
/** What the work comes to or, when that takes more than so many milliseconds, what `late` gives or throws. */
export async function inTime<Outcome, Late = undefined>(
  work: Promise<Outcome>,
  milliseconds: number,
  late: () => Late | undefined = () => undefined,
): Promise<Outcome | Late | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = clock.setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clock.clearTimeout(timer);
  }
}
