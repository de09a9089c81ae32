import { formatQualifiedSwhid, formatSwhid } from './swhid.ts';

/**
 * Returns the identifiers of a loaded deposit: its directory, alone and qualified by its revision, snapshot and origin.
 */
export function depositIdentifiers(
  loaded: {
    readonly directory: string;
    readonly revision: string;
    readonly snapshot: string;
    readonly origin: string;
  } | null,
): { refId: string; refIdContext: string } | null {
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
