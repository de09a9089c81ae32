import type { ArchiveLimits } from '../archive-reader.ts';
import type { FaultCode } from '../faults.ts';
import { sanitizeName } from './sanitize-name.ts';

type PathLimits = Pick<ArchiveLimits, 'pathBytes' | 'nameBytes' | 'depth'>;

type EntryPath =
  /** Normalised: no empty, `.` or `..` segments; empty for the root itself. */
  { readonly path: string } | { readonly code: FaultCode; readonly text: string };

/** Returns the normalised path for a member's name (latin1 string of its raw bytes), or its fault. */
export function entryPath(name: string, limits: PathLimits): EntryPath {
  return hostile(name) ?? tooLong(name, limits) ?? { path: cleanPath(name) };
}

/** Returns the path that a member got when its archive was checked; `undefined` for an entry that is not a member. */
export function memberPath(name: string): string | undefined {
  const result = entryPath(name, noLimits);
  return 'path' in result ? result.path : undefined;
}

// The limits of the check were applied already.
const noLimits = { pathBytes: Infinity, nameBytes: Infinity, depth: Infinity };

/** Whether a link in the directory of `path` with this target leaves the tree. Links are not followed. */
export function pointsOutOfTree(path: string, target: string): boolean {
  if (target.startsWith('/')) return true;
  let depth = path.split('/').length - 1;
  for (const segment of target.split('/')) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function hostile(name: string): EntryPath | undefined {
  if (name === '') return { code: 'BAD_NAME', text: 'A member has an empty name.' };
  if (name.includes('\0'))
    return { code: 'BAD_NAME', text: `The name of the member ${shown(name)} holds a NUL byte.` };
  if (/^[/\\]/.test(name))
    return { code: 'ABSOLUTE_PATH', text: `The member ${shown(name)} has an absolute path.` };
  if (/^[A-Za-z]:/.test(name))
    return {
      code: 'ABSOLUTE_PATH',
      text: `The path of the member ${shown(name)} begins with a drive letter.`,
    };
  if (/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) {
    return {
      code: 'PATH_TRAVERSAL',
      text: `The path of the member ${shown(name)} climbs with a “..” segment (path traversal).`,
    };
  }
}

function tooLong(name: string, { pathBytes, nameBytes, depth }: PathLimits): EntryPath | undefined {
  if (name.length > pathBytes) {
    return {
      code: 'PATH_TOO_LONG',
      text: `The path of the member ${shown(name)} is ${name.length} bytes long; the limit is ${pathBytes}.`,
    };
  }
  const segments = name.split('/').filter(isName);
  const longest = Math.max(0, ...segments.map(({ length }) => length));
  if (longest > nameBytes) {
    return {
      code: 'NAME_TOO_LONG',
      text: `The path of the member ${shown(name)} has a name that is too long: ${longest} bytes; the limit is ${nameBytes}.`,
    };
  }
  const folders = name.endsWith('/') ? segments.length : segments.length - 1;
  if (folders > depth) {
    return {
      code: 'TOO_DEEP',
      text: `The path of the member ${shown(name)} is too deep: it has ${folders} folders; the limit of the depth is ${depth}.`,
    };
  }
}

/** Formats a name for messages. Costs more than all checks, so it is only called for a name with a fault. */
function shown(name: string): string {
  return `“${sanitizeName(name)}”`;
}

function cleanPath(name: string): string {
  // Most names are clean already.
  return /(?:^|\/)\.?(?:\/|$)/.test(name) ? name.split('/').filter(isName).join('/') : name;
}

function isName(segment: string): boolean {
  return segment !== '' && segment !== '.';
}
