import { formatQualifiedSwhid, formatSwhid } from './swhid.ts';

type LoadedIdentifiers = {
  readonly directory: string;
  readonly revision: string;
  readonly snapshot: string;
  readonly origin: string;
};

type RefIds = { readonly refId: string; readonly refIdContext: string };

/**
 * Returns the identifiers of a loaded deposit: its directory, alone and qualified by its revision, snapshot and origin.
 */
export function depositIdentifiers(loaded: LoadedIdentifiers | null): RefIds | null {
  if (!loaded) return null;
  const core = { type: 'dir', id: loaded.directory } as const;
  const qualifiers = {
    origin: loaded.origin,
    visit: { type: 'snp', id: loaded.snapshot },
    anchor: { type: 'rev', id: loaded.revision },
    path: '/',
  } as const;
  return { refId: formatSwhid(core), refIdContext: formatQualifiedSwhid({ ...core, qualifiers }) };
}

type Identified = {
  readonly loaded: LoadedIdentifiers | null;
  readonly about?: RefIds | null | undefined;
};

/** Returns the identifiers of the loaded content, or else of the object that the metadata are about. */
export function identifiersOf({ loaded, about }: Identified): RefIds | null {
  return depositIdentifiers(loaded) ?? about ?? null;
}

/** Returns a deposit with its identifiers, and that of its client: of the metadata, else the slug. */
export function withIdentifiers<
  Deposit extends Identified & { readonly externalIdentifier: string | null; readonly slug: string | null },
>(deposit: Deposit) {
  const externalId = deposit.externalIdentifier ?? deposit.slug;
  return { ...deposit, loaded: identifiersOf(deposit), externalId };
}
