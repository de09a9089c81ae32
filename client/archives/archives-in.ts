import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import StreamZip from 'node-stream-zip';
import type { ReadableArchive } from './identify.ts';

/**
 * Unpacks a zip of archives, as servers send for several archives, and returns the archives in the order of the zip.
 */
export async function archivesIn(zip: string, folder: string): Promise<ReadableArchive[]> {
  const opened = new StreamZip.async({ file: zip, skipEntryNameValidation: true });
  const entries: StreamZip.ZipEntry[] = [];
  opened.on('entry', (entry) => entries.push(entry)); // its record of entries loses one that is named __proto__
  try {
    await opened.entriesCount;
    entries.sort((a, b) => a.offset - b.offset);
    const archives: ReadableArchive[] = [];
    for (const [at, entry] of entries.entries()) {
      const file = path.join(folder, `archive-${at + 1}`); // whatever its name is
      await opened.extract(entry, file);
      archives.push({ source: entry.name, file, sha256: await sha256Of(file) });
    }
    return archives;
  } finally {
    await opened.close();
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
