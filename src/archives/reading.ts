import { ObjectCorrupt } from '../archive-store/archive-store.ts';
import type { Inspection } from './inspection.ts';

/** What was found, and the SHA-256 of the bytes it was found in. */
export type Reading = { readonly inspection: Inspection; readonly found: string };

/** @throws {ObjectCorrupt} the bytes were others than expected, so that nothing found in them counts. */
export function trustReading({ inspection, found }: Reading, sha256: string): Inspection {
  if (found !== sha256) throw new ObjectCorrupt(sha256, `their SHA-256 is ${found}`);
  return inspection;
}
