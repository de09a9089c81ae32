import { clock } from '../clock.ts';

/** Settles like the work, or with the result of `late` if the work takes longer than `milliseconds`. */
export async function withTimeout<Outcome, Late = undefined>(
  work: Promise<Outcome>,
  milliseconds: number,
  late: () => Late = () => undefined as Late,
): Promise<Outcome | Late> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = clock.setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clock.clearTimeout(timer);
  }
}
