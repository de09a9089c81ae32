import { clock } from '../clock.ts';

/** Sleeps like the plain timer, but resolves normally when the signal aborts. */
export async function sleepUntilAborted(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
