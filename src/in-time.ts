import { setTimeout } from 'node:timers/promises';

/** Resolves when the work has ended, or after so many milliseconds; rejects if it fails before. */
export async function inTime(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const over = new AbortController();
  const late = setTimeout(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
