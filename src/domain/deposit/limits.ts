import { DepositRefusal } from './errors.ts';
import type { EntryFacts } from './events.ts';

/** Maximum number of metadata entries of a deposit. Replacing them resets the count. */
export const MAX_ENTRIES = 100;

/**
 * Maximum number of archives and entries added, replaced or removed while a deposit is partial. Each change reads all
 * changes before it. The request that completes a deposit is always accepted.
 */
export const MAX_CHANGES = 1000;

/** Maximum characters of an external identifier, the same as of a Slug. */
const MAX_IDENTIFIER = 255;
/** Maximum bytes of a provenance as JSON, so that an event can hold it as it is. */
const MAX_PROVENANCE_BYTES = 512;

export function assertArchives(count: number, maxArchives: number): void {
  assertWithin('TOO_MANY_ARCHIVES', 'archives', count, maxArchives);
}

export function assertEntries(count: number): void {
  assertWithin('TOO_MANY_ENTRIES', 'metadata entries', count, MAX_ENTRIES);
}

/** Refuses a deposit that is still partial after `changes` changes: each event except the first. */
export function assertChangeLimit(depositId: number, changes: number): void {
  if (changes <= MAX_CHANGES) return;
  throw new DepositRefusal(
    'TOO_MANY_CHANGES',
    `Deposit ${depositId} has reached the limit of ${MAX_CHANGES} changes while it is partial: complete it, with this change or without it, or delete it and start another one.`,
  );
}

/** Refuses an entry with a value that is recorded whole, and longer than an event should contain. */
export function assertLengths({
  externalIdentifier,
  provenance = null,
}: Pick<EntryFacts, 'externalIdentifier' | 'provenance'>): void {
  if (externalIdentifier !== null && Array.from(externalIdentifier).length > MAX_IDENTIFIER) {
    throw new DepositRefusal(
      'VALUE_TOO_LONG',
      `The external_identifier of the entry is longer than the ${MAX_IDENTIFIER} characters that are allowed.`,
    );
  }
  if (provenance !== null && jsonBytes(provenance) - QUOTES > MAX_PROVENANCE_BYTES) {
    throw new DepositRefusal(
      'VALUE_TOO_LONG',
      `The URL in metadata-provenance of the entry is longer than ${MAX_PROVENANCE_BYTES} bytes.`,
    );
  }
}

const utf8 = new TextEncoder();
/** Bytes of the quotes of a text as JSON. */
export const QUOTES = 2;

/** Returns the bytes of a value as events contain it: as JSON. */
export function jsonBytes(value: unknown): number {
  return utf8.encode(JSON.stringify(value)).length;
}

function assertWithin(
  code: 'TOO_MANY_ARCHIVES' | 'TOO_MANY_ENTRIES',
  what: string,
  count: number,
  limit: number,
): void {
  if (count <= limit) return;
  throw new DepositRefusal(code, `A deposit holds at most ${limit} ${what}; this would be number ${count}.`);
}
