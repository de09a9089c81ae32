import { clock } from '../clock.ts';

const DELAY_MS = 1000;

/**
 * Ends the process after all its work, with `process.exitCode`. It would end by itself, if the client library of
 * EventStoreDB did not look for a cluster for minutes, which cannot be cancelled. Waits for a reader of the output.
 */
export function exitSoon(): void {
  clock
    .setTimeout(() => {
      if (process.stdout.writableLength + process.stderr.writableLength > 0) exitSoon();
      else process.exit();
    }, DELAY_MS)
    .unref();
}
