import type { Json } from '../../proof/canonical-json.ts';

/** A difference between two values at a path in them, such as `archives[0].filename`. */
export type Difference = {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Absent where nothing was, or is. */
  readonly before?: Json;
  readonly after?: Json;
};

/**
 * Returns the differences between two values of JSON, in the order of their members. `undefined` stands for no value: all
 * members of the other one are added or removed.
 */
export function differencesBetween(
  before: Json | undefined,
  after: Json | undefined,
  path = '',
): Difference[] {
  const values = [before, after].filter((value) => value !== undefined);
  if (values.every(isObject) && values.some((value) => Object.keys(value).length > 0))
    return memberDifferences(before as Members | undefined, after as Members | undefined, path);
  if (after === undefined) return before === undefined ? [] : [{ path, kind: 'removed', before }];
  if (before === undefined) return [{ path, kind: 'added', after }];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, kind: 'changed', before, after }];
}

/** Returns how many members of the value are the same in the other one. */
export function unchangedMembers(before: Json | undefined, after: Json | undefined): number {
  if (!isObject(before) || !isObject(after)) return 0;
  return Object.keys(before).filter((name) => differencesBetween(before[name], after[name]).length === 0)
    .length;
}

type Members = { readonly [name: string]: Json };

function memberDifferences(before: Members = {}, after: Members = {}, path: string): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isList = [before, after].some(Array.isArray);
  return names.flatMap((name) => {
    const inside = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return differencesBetween(before[name], after[name], inside);
  });
}

/** Lists are compared by their places, an object with an object, and nothing with anything else. */
function isObject(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null;
}
