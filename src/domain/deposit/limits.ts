import { DepositRefusal } from './errors.ts';

/** Maximum number of metadata entries of a deposit. Replacing them resets the count. */
export const MAX_ENTRIES = 100;

/**
 * Maximum number of archives and entries added, replaced or removed while a deposit is partial. Each change reads all
 * changes before it. The request that completes a deposit is always accepted.
 */
export const MAX_CHANGES = 1000;

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

function assertWithin(
  code: 'TOO_MANY_ARCHIVES' | 'TOO_MANY_ENTRIES',
  what: string,
  count: number,
  limit: number,
): void {
  if (count <= limit) return;
  throw new DepositRefusal(code, `A deposit holds at most ${limit} ${what}; this would be number ${count}.`);
}
