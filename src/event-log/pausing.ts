import { clock } from '../tools/clock.ts';

/** Unlike the plain timer, ends normally when the signal aborts. */
export async function pausing(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
