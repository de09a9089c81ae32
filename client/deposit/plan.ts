import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { UsageFault } from '../faults.ts';
import type { Carriage } from './carriage.ts';
import type { Entry } from './entry.ts';

/** One request of an upload. The last one is final, unless more will follow. */
export type Step = { readonly final: boolean } & (
  | { readonly kind: 'create'; readonly archive: PreparedArchive | null; readonly entry: Entry | null }
  | { readonly kind: 'add-archive' | 'replace-archives'; readonly archive: PreparedArchive }
  | { readonly kind: 'add-metadata' | 'replace-metadata'; readonly entry: Entry }
);

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
 * ones. An archive that is sent in chunks cannot share a request with an entry.
 */
export function planSteps(
  { deposit, replace, partial }: UploadOptions,
  archives: readonly PreparedArchive[],
  entry: Entry | null,
  carriage: (archive: PreparedArchive) => Carriage,
): Step[] {
  const steps =
    deposit === undefined ? creation(archives, entry, carriage) : change(archives, entry, replace);
  return steps.map((step, at) => ({ ...step, final: !partial && at === steps.length - 1 }));
}

type Unfinished = Step extends infer One ? (One extends Step ? Omit<One, 'final'> : never) : never;

function creation(
  [first, ...more]: readonly PreparedArchive[],
  entry: Entry | null,
  carriage: (archive: PreparedArchive) => Carriage,
): Unfinished[] {
  const isSplit = first !== undefined && entry !== null && carriage(first) === 'resumable';
  return [
    { kind: 'create', archive: first ?? null, entry: isSplit ? null : entry },
    ...(isSplit ? [{ kind: 'add-metadata', entry } as const] : []),
    ...more.map((archive) => ({ kind: 'add-archive', archive }) as const),
  ];
}

/** Returns the changes, metadata first: so the server refuses faulty metadata before the archives are sent. */
function change(
  [first, ...more]: readonly PreparedArchive[],
  entry: Entry | null,
  replace: boolean,
): Unfinished[] {
  const metadata: Unfinished[] = entry
    ? [{ kind: replace ? 'replace-metadata' : 'add-metadata', entry }]
    : [];
  if (!first) return metadata;
  return [
    ...metadata,
    { kind: replace ? 'replace-archives' : 'add-archive', archive: first },
    ...more.map((archive) => ({ kind: 'add-archive', archive }) as const),
  ];
}
