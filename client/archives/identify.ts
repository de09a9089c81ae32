import {
  type ArchiveFault,
  type ArchiveListing,
  defaultArchiveLimits,
} from '../../src/archives/archive-reader.ts';
import { readArchive } from '../../src/archives/read-archive.ts';
import { mergeListings } from '../../src/archives/tree/merge-archives.ts';
import { formatSwhid } from '../../src/swhid/swhid.ts';
import { Fault, reading } from '../faults.ts';
import type { PreparedArchive } from './prepare-archive.ts';
import { READING_LIMITS, type UnpackedLimits } from './unpacked-limits.ts';

/** Result of reading the archives with the same strictness as the service. */
export type Identified =
  | {
      readonly outcome: 'identified';
      /** `swh:1:dir:…` of the merged archives. */
      readonly swhid: string;
      readonly files: number;
      readonly bytes: number;
      /** One sentence per warning. */
      readonly warnings: readonly string[];
    }
  | { readonly outcome: 'faulty'; readonly faults: readonly ArchiveFault[] };

/** The parts of an archive that reading it needs. */
export type ReadableArchive = Pick<PreparedArchive, 'source' | 'file' | 'sha256' | 'directory'>;

/** Reads the archives completely. @throws {Fault} one differs from what it was prepared from. */
export async function identify(
  archives: readonly ReadableArchive[],
  limits: UnpackedLimits = READING_LIMITS,
): Promise<Identified> {
  const listings: ArchiveListing[] = [];
  const warnings: string[] = [];
  const faults: ArchiveFault[] = [];
  for (const { source, file, sha256, directory } of archives) {
    const { inspection, found } = await reading(source, () =>
      readArchive({ kind: 'file', path: file }, sha256, { ...defaultArchiveLimits, ...limits }),
    );
    if (found !== sha256)
      throw new Fault(`${source} changed while it was read: try again when no process writes to it.`);
    const about = namedBy(source, archives.length > 1);
    if (inspection.outcome === 'refused') faults.push(...about(inspection.faults));
    else {
      warnings.push(...about(inspection.warnings).map(({ text }) => text));
      const listed = { sha256, listing: inspection.listing };
      if (directory !== undefined) assertPacked(source, listed, directory);
      listings.push(listed);
    }
  }
  if (faults.length > 0) return { outcome: 'faulty', faults };
  const merged = mergeListings(listings);
  if (merged.outcome === 'refused') return { outcome: 'faulty', faults: merged.faults };
  const { directory, files, bytes } = merged;
  return {
    outcome: 'identified',
    swhid: formatSwhid({ type: 'dir', id: directory }),
    files,
    bytes,
    warnings,
  };
}

/** Compares the packed archive with the folder: no file was written meanwhile, and nothing was packed incorrectly. */
function assertPacked(source: string, listed: ArchiveListing, directory: string): void {
  const packed = mergeListings([listed]);
  if (packed.outcome === 'refused' || packed.directory === directory) return;
  throw new Fault(
    `The folder ${source} changed while it was packed, from swh:1:dir:${packed.directory} to swh:1:dir:${directory}: try again when no process writes to it.`,
  );
}

/** Returns a function that adds the archive's name to each text if there are several archives. */
function namedBy(
  source: string,
  isOneOfSeveral: boolean,
): (faults: readonly ArchiveFault[]) => ArchiveFault[] {
  return (faults) =>
    faults.map(({ code, text }) => ({ code, text: isOneOfSeveral ? `${source}: ${text}` : text }));
}
