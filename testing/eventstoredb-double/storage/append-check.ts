export type Expected = number | 'none' | 'any' | 'exists';

/** The facts about a stream that decide whether an append to it succeeds. */
export type StreamState = {
  readonly nextRevision: number;
  readonly isDeleted: boolean;
  readonly idAt: (revision: number) => string | undefined;
};

/** `there`: all the ids were appended before, at this expected revision, and `last` is the revision of the last. */
export type AppendCheck =
  | { readonly kind: 'new' }
  | { readonly kind: 'there'; readonly last: number }
  | { readonly kind: 'refused'; readonly actual: number };

/**
 * Decides about an append by ids and expected revision alone. Ids are compared only where the expected revision puts
 * them: the same ids at another expected revision are new events.
 */
export function checkAppend(stream: StreamState, expected: Expected, ids: readonly string[]): AppendCheck {
  const { nextRevision, isDeleted } = stream;
  const refused = { kind: 'refused', actual: nextRevision - 1 } as const;
  if (expected === 'any') return { kind: 'new' };
  if (expected === 'exists') return nextRevision > 0 && !isDeleted ? { kind: 'new' } : refused;
  const start = expected === 'none' ? 0 : expected + 1;
  if (start === nextRevision) return { kind: 'new' };
  if (start > nextRevision) return refused;
  const isThere = (index: number) => stream.idAt(start + index) === ids[index];
  if (ids.every((_, index) => isThere(index))) return { kind: 'there', last: start + ids.length - 1 };
  return expected === 'none' && isDeleted && !isThere(0) ? { kind: 'new' } : refused;
}
