import { ObjectCorrupt } from '../object-store/object-store.ts';
import type { Inspection } from './inspection.ts';

/** The result of reading an archive, and the SHA-256 of the bytes read. */
export type Reading = { readonly inspection: Inspection; readonly found: string };

/**
 * Returns the inspection. @throws {ObjectCorrupt} the bytes were not the expected ones, so the inspection is
 * void.
 */
export function trustReading({ inspection, found }: Reading, sha256: string): Inspection {
  if (found !== sha256) throw new ObjectCorrupt(sha256, `their SHA-256 is ${found}`);
  return inspection;
}
