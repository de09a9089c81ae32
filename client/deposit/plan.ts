import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { UsageFault } from '../faults.ts';
import type { Entry } from './entry.ts';

/** One request of an upload, with an archive, an entry, or both. The last one is final, unless more will follow. */
export type Step = {
  readonly action: 'create' | 'add' | 'replace';
  readonly archive: PreparedArchive | null;
  readonly entry: Entry | null;
  readonly final: boolean;
};

export type UploadOptions = {
  /** An existing deposit to add to. */
  readonly deposit: string | undefined;
  /** Whether to replace the existing content. */
  readonly replace: boolean;
  /** Whether another upload will follow. */
  readonly partial: boolean;
};

/** @throws {UsageFault} the options contradict each other. */
export function assertSensible(
  wishes: UploadOptions,
  archives: readonly string[],
  entry: Entry | null,
): void {
  const { deposit, replace, partial } = wishes;
  if (archives.length === 0 && !entry)
    throw new UsageFault('Nothing to upload: give an archive, a folder, or metadata.');
  if (archives.includes(''))
    throw new UsageFault("'' is not a path: give an archive or a folder, or . for the current folder.");
  if (deposit !== undefined) return;
  if (replace) throw new UsageFault('--replace needs --deposit N, the deposit whose content to replace.');
  if (partial) return;
  if (!entry)
    throw new UsageFault(
      'A deposit needs metadata: give --name and --author, or --metadata FILE, or send them later with --partial.',
    );
  if (archives.length === 0)
    throw new UsageFault(
      'A deposit needs an archive or a folder: give one, or send it later with --partial.',
    );
}

/**
 * Returns the requests in their order. Archives have the order of the arguments, since later ones overwrite earlier
 * ones. An archive that is a resumable upload cannot share a request with an entry.
 */
export function planSteps(
  { deposit, replace, partial }: UploadOptions,
  archives: readonly PreparedArchive[],
  entry: Entry | null,
  isResumable: (archive: PreparedArchive) => boolean,
): Step[] {
  const steps =
    deposit === undefined ? creation(archives, entry, isResumable) : change(archives, entry, replace);
  return steps.map((step, at) => ({ ...step, final: !partial && at === steps.length - 1 }));
}

type Content = Omit<Step, 'final'>;

function creation(
  [first, ...more]: readonly PreparedArchive[],
  entry: Entry | null,
  isResumable: (archive: PreparedArchive) => boolean,
): Content[] {
  if (!first || !entry || !isResumable(first))
    return [{ action: 'create', archive: first ?? null, entry }, ...more.map(addition)];
  return [
    { action: 'create', archive: first, entry: null },
    { action: 'add', archive: null, entry },
    ...more.map(addition),
  ];
}

/** Returns the changes, metadata first: so the server refuses faulty metadata before the archives are sent. */
function change(
  [first, ...more]: readonly PreparedArchive[],
  entry: Entry | null,
  replace: boolean,
): Content[] {
  const action = replace ? 'replace' : 'add';
  return [
    ...(entry ? [{ action, archive: null, entry } as const] : []),
    ...(first ? [{ action, archive: first, entry: null } as const] : []),
    ...more.map(addition),
  ];
}

function addition(archive: PreparedArchive): Content {
  return { action: 'add', archive, entry: null };
}
