import { entryPath } from './entry-path.ts';

/** Where a member was found to belong when its archive was checked; `undefined` for what is no member. */
export function memberPath(name: string): string | undefined {
  const result = entryPath(name, noLimits);
  return 'path' in result ? result.path : undefined;
}

// Those of the check have been kept already, whatever they were then.
const noLimits = { pathBytes: Infinity, nameBytes: Infinity, depth: Infinity };
