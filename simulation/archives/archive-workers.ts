/** Stands in for `src/archives/workers/archive-workers.ts`. */
import { createHash, hash } from 'node:crypto';
import type { ArchiveListing, ArchiveReader, Inspection, Merged } from '../../src/archives/archive-reader.ts';
import type { LocalSource } from '../../src/object-store/object-store.ts';
import { files } from '../../src/tools/files.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import { world } from '../world/world.ts';

/** Kinds of archives in the simulation; the text of an archive begins with its kind. */
export type ArchiveKind = 'good' | 'damaged' | 'clashing';

const LONGEST_MS = 6000;

/** Reads archives in a random time. The outcome depends on their bytes alone. */
export class ArchiveWorkers implements ArchiveReader {
  readonly load = { running: 0, waiting: 0 };
  readonly #random = new SeededRandom(world().codeRandom.int(2 ** 31), 'archives');

  async inspect(source: LocalSource, sha256: string): Promise<Inspection> {
    const archive = source.kind === 'bytes' ? Buffer.from(source.bytes) : await files.readFile(source.path);
    await this.#work();
    const text = archive.toString();
    if (text.startsWith('damaged'))
      return { outcome: 'refused', format: 'tar', faults: [{ code: 'DAMAGED', text: 'It is damaged.' }] };
    const listing = Buffer.from(`${text.startsWith('clashing') ? 'clashing' : 'good'} listing of ${sha256}`);
    const accepted = { outcome: 'accepted', format: 'tar', files: 1, warnings: [], listing } as const;
    const tree = this.#random.chance(0.5) ? merged([{ sha256, listing }]) : undefined; // not of a large archive
    const found = { ...accepted, bytes: archive.length, listingSha256: hash('sha256', listing) };
    return { ...found, ...(tree?.outcome === 'accepted' && { tree }) };
  }

  async merge(listings: readonly ArchiveListing[]): Promise<Merged> {
    await this.#work();
    return merged(listings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // There are no threads.
  }

  #work(): Promise<void> {
    const isSlow = this.#random.chance(0.25);
    const ms = isSlow ? this.#random.between(100, LONGEST_MS) : this.#random.between(1, 40);
    return new Promise((resolve) => void setTimeout(resolve, ms));
  }
}

function merged(listings: readonly ArchiveListing[]): Merged {
  const texts = listings.map(({ listing }) => Buffer.from(listing).toString());
  if (texts.some((text) => text.startsWith('clashing')))
    return { outcome: 'refused', faults: [{ code: 'CLASH', text: 'Two members have one name.' }] };
  const text = texts.join('\n');
  const directory = createHash('sha1').update(text).digest('hex');
  const manifest = Buffer.from(`manifest ${text}`);
  return { outcome: 'accepted', directory, files: listings.length, bytes: text.length, manifest };
}
