import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { UsageFault } from '../faults.ts';
import type { Carriage } from './carriage.ts';
import type { Entry } from './entry.ts';

/** One request of an upload. The last one is final, unless more is to come. */
export type Step = { readonly final: boolean } & (
  | { readonly kind: 'create'; readonly archive: PreparedArchive | null; readonly entry: Entry | null }
  | { readonly kind: 'add-archive' | 'replace-archives'; readonly archive: PreparedArchive }
  | { readonly kind: 'add-metadata' | 'replace-metadata'; readonly entry: Entry }
);

export type Wishes = {
  /** A deposit that is there already, to be added to. */
  readonly deposit: string | undefined;
  /** What is there is to be replaced. */
  readonly replace: boolean;
  /** More is to come in another upload. */
  readonly partial: boolean;
};

/** @throws {UsageFault} what is wished makes no sense. */
export function assertSensible(wishes: Wishes, archives: readonly string[], entry: Entry | null): void {
  const { deposit, replace, partial } = wishes;
  if (archives.length === 0 && !entry)
    throw new UsageFault('Nothing to upload: give an archive, a folder, or metadata.');
  if (deposit !== undefined) return;
  if (replace) throw new UsageFault('--replace needs --deposit N, the deposit whose content is replaced.');
  if (partial) return;
  if (!entry)
    throw new UsageFault(
      'A deposit needs metadata: give --name and --author, or --metadata FILE; or --partial when they come later.',
    );
  if (archives.length === 0)
    throw new UsageFault('A deposit needs an archive or a folder; or --partial when it comes later.');
}

/**
 * The requests, in their order: archives as they were given, since later ones lie over earlier ones. One that comes
 * in pieces has no place in a request with an entry.
 */
export function planned(
  { deposit, replace, partial }: Wishes,
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
  const isSplit = first !== undefined && entry !== null && carriage(first) === 'in pieces';
  return [
    { kind: 'create', archive: first ?? null, entry: isSplit ? null : entry },
    ...(isSplit ? [{ kind: 'add-metadata', entry } as const] : []),
    ...more.map((archive) => ({ kind: 'add-archive', archive }) as const),
  ];
}

/** Metadata come first: a server that finds fault with them says so before the archives are sent. */
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
