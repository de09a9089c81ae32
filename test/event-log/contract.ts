import { appendingContract } from './appending-contract.ts';
import type { LogEngine } from './log-under-test.ts';
import { readingContract } from './reading-contract.ts';
import { subscribingContract } from './subscribing-contract.ts';

/** Declares the tests of the contract of every event log, whatever its engine. */
export function eventLogContract(engine: LogEngine): void {
  appendingContract(engine);
  readingContract(engine);
  subscribingContract(engine);
}
