import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { UsageFault } from '../faults.ts';
import type { Entry } from './entry.ts';

/** One request of an upload, with an archive, an entry, or both. The last one is final, unless more will follow. */
export type Step = {
  readonly action: 'create' | 'add' | 'replace';
  readonly archive: PreparedArchive | null;
  readonly entry: Entry | null;
  /** Whether the archive is sent before the request that names it, in chunks, by the tus protocol. */
  readonly isChunked: boolean;
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
 * ones. Metadata come first in a change, so that the server refuses faulty ones before the archives are sent.
 */
export function planSteps(
  { deposit, replace, partial }: UploadOptions,
  [first, ...more]: readonly PreparedArchive[],
  entry: Entry | null,
): Step[] {
  const action = replace ? 'replace' : 'add';
  const contents: Content[] =
    deposit === undefined
      ? [{ action: 'create', archive: first ?? null, entry }]
      : [
          ...(entry ? [{ action, archive: null, entry } as const] : []),
          ...(first ? [{ action, archive: first, entry: null } as const] : []),
        ];
  contents.push(...more.map((archive) => ({ action: 'add', archive, entry: null }) as const));
  return contents.map((content, at) => ({
    ...content,
    isChunked: false,
    final: !partial && at === contents.length - 1,
  }));
}

type Content = Pick<Step, 'action' | 'archive' | 'entry'>;

/** Returns the requests that send the archive of a step in chunks. Then it cannot share a request with an entry. */
export function inChunks(step: Step): Step[] {
  if (!step.entry) return [{ ...step, isChunked: true }];
  return [
    { ...step, entry: null, isChunked: true, final: false },
    { ...step, action: 'add', archive: null },
  ];
}
