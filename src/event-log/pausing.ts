import { setTimeout } from 'node:timers/promises';

/** Unlike the plain timer, ends normally when the signal aborts. */
export async function pausing(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
