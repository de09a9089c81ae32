import type { Expected } from './corpus-case.ts';
import type { Ending } from './corpus-service.ts';

export type Trial = {
  readonly name: string;
  readonly expected: Expected;
  readonly run: () => Promise<Ending>;
};

// Does not measure speed; it only ends a case that hangs.
const CASE_TIMEOUT_MS = 60_000;

/** Runs some cases at a time; resolves to one line for each with another outcome. */
export async function runCases(trials: readonly Trial[], atOnce = 4): Promise<string[]> {
  const differences: string[] = [];
  const waiting = trials.values();
  const runner = async (): Promise<void> => {
    for (const { name, expected, run } of waiting) {
      const ending = await ended(run());
      if (!isAsExpected(ending, expected)) differences.push(difference(name, expected, ending));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
  return differences;
}

async function ended(running: Promise<Ending>): Promise<Ending> {
  const timer = AbortSignal.timeout(CASE_TIMEOUT_MS);
  const endless = new Promise<Ending>((resolve) => {
    timer.addEventListener('abort', () => resolve(nothing('no end')));
  });
  const failed = (error: Error): Ending => nothing(`${error.message}: ${String(error.cause)}`);
  return Promise.race([running.catch(failed), endless]);
}

function nothing(reason: string): Ending {
  return { outcome: 'nothing', status: 0, reason, swhid: '' };
}

function isAsExpected({ outcome, status, reason, swhid }: Ending, expected: Expected): boolean {
  if (outcome !== expected.outcome) return false;
  if (expected.outcome === 'done') return /^swh:1:dir:[0-9a-f]{40}$/.test(swhid);
  if (expected.outcome === 'refused' && status !== expected.status) return false;
  return expected.reason.test(reason);
}

function difference(name: string, expected: Expected, { outcome, status, reason }: Ending): string {
  const wanted = expected.outcome === 'done' ? '' : ` ${expected.reason}`;
  return `${name}: ${outcome} (${status}) “${reason.slice(0, 300)}” instead of ${expected.outcome}${wanted}`;
}
