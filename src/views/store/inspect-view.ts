import { files } from '../../tools/files.ts';
import { ViewFile, type ViewFileOptions } from './view-file.ts';
import type { ViewFolder } from './view-folder.ts';

/** Result of a read-only inspection of the generation in use. */
export type ViewInUse =
  | { readonly kind: 'readable'; readonly table: ViewFile }
  /** The service cannot have written this file; `why` is a description. */
  | { readonly kind: 'damaged'; readonly why: string }
  /** There is nothing to compare, for a legitimate reason; `why` is a predicate of "it". */
  | { readonly kind: 'not comparable'; readonly why: string };

export function inspectView(folder: ViewFolder, options: ViewFileOptions): ViewInUse {
  const generation = folder.current(options.name);
  const file = folder.fileOf(options.name, generation);
  if (!files.existsSync(file)) return withoutFile(folder, options.name, generation);
  let table: ViewFile | undefined;
  try {
    table = ViewFile.openReadOnly(file, options);
    const otherwise = mismatchOf(table, options);
    if (otherwise === undefined) return { kind: 'readable', table };
    table[Symbol.dispose]();
    return otherwise;
  } catch (error) {
    table?.[Symbol.dispose]();
    const { message, code } = error as NodeJS.ErrnoException;
    if (code === 'WAL_NOT_READABLE')
      return { kind: 'not comparable', why: `cannot be read: ${message.replace(/\.$/, '')}` };
    return { kind: 'damaged', why: message }; // message of SQLite
  }
}

/**
 * Returns the generations after the one in use: from an interrupted rebuild, or from one that the running
 * service was asked to adopt.
 */
export function laterGenerations(folder: ViewFolder, name: string): readonly number[] {
  const current = folder.current(name);
  return generationsOf(folder, name).filter((generation) => generation > current);
}

/**
 * Returns a description of the error if there are views without a position. The service writes both in one
 * transaction, so it cannot have written such a file.
 */
export function isMissingPosition(table: ViewFile): string | undefined {
  try {
    if (table.storedPosition() !== undefined || table.size === 0) return undefined;
    return `it holds ${table.size} entries but says nothing of how far in the log they are`;
  } catch (error) {
    return (error as Error).message; // message of SQLite
  }
}

function withoutFile(folder: ViewFolder, name: string, generation: number): ViewInUse {
  const others = generationsOf(folder, name);
  if (others.length === 0)
    return { kind: 'not comparable', why: 'is not there: the service builds it when it starts' };
  if (folder.pointed(name) === 'nothing' && others.every((other) => other === generation + 1))
    return { kind: 'not comparable', why: 'is not there, only what a rebuild has begun' };
  const there =
    others.length === 1 ? `generation ${others[0]} is` : `the generations ${others.join(', ')} are`;
  return {
    kind: 'damaged',
    why: `the file of generation ${generation}, which is in use as current.json has it, is missing, while ${there} there`,
  };
}

function mismatchOf(table: ViewFile, { name, version, origin }: ViewFileOptions): ViewInUse | undefined {
  const about = table.about();
  if (about === undefined) return { kind: 'damaged', why: 'it says nothing of what it is about' };
  if (about.name !== name) return { kind: 'damaged', why: `it says that it is the view ${about.name}` };
  const rebuildHint = 'the service builds it anew when it starts';
  if (about.version !== version) {
    return {
      kind: 'not comparable',
      why: `says that it is of version ${about.version}, where this release has version ${version}: ${rebuildHint}`,
    };
  }
  if (about.origin !== origin) {
    return {
      kind: 'not comparable',
      why: `says that it is of another log, ${about.origin} instead of ${origin}: ${rebuildHint}`,
    };
  }
  return undefined;
}

function generationsOf(folder: ViewFolder, name: string): number[] {
  const numbers = files
    .readdirSync(folder.path)
    .map((file) =>
      file.startsWith(`${name}.`) ? Number(/^(\d+)\.sqlite$/.exec(file.slice(name.length + 1))?.[1] ?? 0) : 0,
    );
  return numbers.filter((number) => number > 0).sort((a, b) => a - b);
}
