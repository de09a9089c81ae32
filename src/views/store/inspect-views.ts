import { files } from '../../tools/files.ts';
import type { ViewSchema } from '../projection.ts';
import { ViewFile } from './view-file.ts';
import type { ViewFolder } from './view-folder.ts';

/** Result of a read-only inspection of the generation in use. */
export type ViewsInUse =
  | { readonly kind: 'readable'; readonly file: ViewFile }
  /** The service cannot have written this file; `why` is a description. */
  | { readonly kind: 'damaged'; readonly why: string }
  /** There is nothing to compare, for a legitimate reason unless a service serves these views; `why` is a clause. */
  | { readonly kind: 'not comparable'; readonly why: string }
  /** The file exists, and may only be read by its owner; `why` is a clause. */
  | { readonly kind: 'not readable'; readonly why: string };

export function inspectViews(folder: ViewFolder, origin: string): ViewsInUse {
  const file = folder.fileOf(folder.current);
  if (!files.existsSync(file)) return withoutFile(folder);
  let found: ViewFile | undefined;
  try {
    found = new ViewFile(file);
    const otherwise = mismatchOf(found, origin);
    if (otherwise === undefined) return { kind: 'readable', file: found };
    found[Symbol.dispose]();
    return otherwise;
  } catch (error) {
    found?.[Symbol.dispose]();
    const { message, code } = error as NodeJS.ErrnoException;
    const why = message.replace(/\.$/, '');
    if (code === 'WAL_NOT_READABLE') return { kind: 'not readable', why: `the file cannot be read: ${why}` };
    return { kind: 'damaged', why };
  }
}

/** Why a view cannot be compared, as a predicate of "it". `isNewer`: no release up to this one writes its version. */
type OtherVersion = { readonly why: string; readonly isNewer: boolean };

/** Returns why a view of the file cannot be compared; `undefined` if it can. */
export function otherVersion(file: ViewFile, { name, version }: ViewSchema): OtherVersion | undefined {
  const stored = file.versions().get(name);
  if (stored === version) return undefined;
  if (stored === undefined) return { why: 'does not exist', isNewer: false };
  return {
    why: `is of version ${stored}, where this release has version ${version}`,
    isNewer: stored > version,
  };
}

function withoutFile(folder: ViewFolder): ViewsInUse {
  const { current, generations, pointed } = folder;
  if (generations.length === 0) return { kind: 'not comparable', why: 'they do not exist' };
  if (pointed === 'nothing' && generations.every((other) => other === current + 1))
    return { kind: 'not comparable', why: 'they do not exist, only those of an unfinished rebuild' };
  const there =
    generations.length === 1
      ? `generation ${generations[0]} is`
      : `the generations ${generations.join(', ')} are`;
  return {
    kind: 'damaged',
    why: `the file of generation ${current}, which is in use as current.json has it, is missing, while ${there} there`,
  };
}

function mismatchOf(file: ViewFile, origin: string): ViewsInUse | undefined {
  const about = file.about();
  if (about === undefined) return { kind: 'damaged', why: 'it does not say which log it is of' };
  file.versions(); // throws where they are missing
  if (about.origin === origin) return undefined;
  return {
    kind: 'not comparable',
    why: `the file says that it is of another log, ${about.origin} instead of ${origin}`,
  };
}
