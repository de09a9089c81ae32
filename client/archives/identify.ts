import { readArchive } from '../../src/archives/inspect.ts';
import {
  type ArchiveFault,
  type ArchiveLimits,
  defaultArchiveLimits,
  type OverlayListing,
} from '../../src/archives/inspection.ts';
import { overlayListings } from '../../src/archives/overlay.ts';
import { formatSwhid } from '../../src/swhid/swhid.ts';
import { Fault } from '../faults.ts';
import type { PreparedArchive } from './prepare-archive.ts';

/** What the archives are to a reader that is as strict as the service's own. */
export type Identified =
  | {
      readonly outcome: 'identified';
      /** `swh:1:dir:…` of the archives over one another. */
      readonly swhid: string;
      readonly files: number;
      readonly bytes: number;
      /** A sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly outcome: 'faulty'; readonly faults: readonly ArchiveFault[] };

/** As much of an archive as its reading needs. */
export type ReadableArchive = Pick<PreparedArchive, 'source' | 'file' | 'sha256' | 'directory'>;

/** How large an archive may be is for the server to say: these only keep the reading bounded. */
const LIMITS: ArchiveLimits = {
  ...defaultArchiveLimits,
  unpackedBytes: 2 ** 44,
  ratio: 100_000,
  members: 5_000_000,
};

/** Reads the archives from the first to the last byte. @throws {Fault} one is not what it was prepared from. */
export async function identify(archives: readonly ReadableArchive[]): Promise<Identified> {
  const listings: OverlayListing[] = [];
  const warnings: string[] = [];
  const faults: ArchiveFault[] = [];
  for (const { source, file, sha256, directory } of archives) {
    const reading = await readArchive({ kind: 'file', path: file }, sha256, LIMITS);
    if (reading.found !== sha256) throw new Fault(`${source} changed while it was read.`);
    const { inspection } = reading;
    const about = naming(source, archives.length > 1);
    if (inspection.outcome === 'refused') faults.push(...about(inspection.faults));
    else {
      warnings.push(...about(inspection.warnings).map(({ text }) => text));
      const layer = { sha256, listing: inspection.listing };
      if (directory !== undefined) assertPacked(source, layer, directory);
      listings.push(layer);
    }
  }
  if (faults.length > 0) return { outcome: 'faulty', faults };
  const overlay = overlayListings(listings);
  if (overlay.outcome === 'refused') return { outcome: 'faulty', faults: overlay.faults };
  const { directory, files, bytes } = overlay;
  return {
    outcome: 'identified',
    swhid: formatSwhid({ type: 'dir', id: directory }),
    files,
    bytes,
    warnings,
  };
}

/** What was packed is what is in the folder: neither was a file written to meanwhile, nor anything packed wrongly. */
function assertPacked(source: string, layer: OverlayListing, directory: string): void {
  const packed = overlayListings([layer]);
  if (packed.outcome === 'refused' || packed.directory === directory) return;
  throw new Fault(
    `The folder ${source} is swh:1:dir:${directory}, but swh:1:dir:${packed.directory} was packed: try again when nobody writes to it.`,
  );
}

/** Where there are several archives, each sentence names its own. */
function naming(
  source: string,
  isOneOfSeveral: boolean,
): (faults: readonly ArchiveFault[]) => ArchiveFault[] {
  return (faults) =>
    faults.map(({ code, text }) => ({ code, text: isOneOfSeveral ? `${source}: ${text}` : text }));
}
