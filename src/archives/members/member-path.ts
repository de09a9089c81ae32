import { entryPath } from './entry-path.ts';

/**
 * Returns the path that a member got when its archive was checked; `undefined` for an entry that is not a
 * member.
 */
export function memberPath(name: string): string | undefined {
  const result = entryPath(name, noLimits);
  return 'path' in result ? result.path : undefined;
}

// The limits of the check were applied already.
const noLimits = { pathBytes: Infinity, nameBytes: Infinity, depth: Infinity };
