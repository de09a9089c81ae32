import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import StreamZip from 'node-stream-zip';
import { Fault, reasonOf } from '../faults.ts';
import type { ReadableArchive } from './identify.ts';

/**
 * Unpacks a zip of archives, as servers send for several archives, into a temporary folder. Returns the archives in the
 * order of the zip. @throws {Fault} the folder cannot be written, such as a full one.
 */
export async function archivesIn(zip: string, folder: string): Promise<ReadableArchive[]> {
  const opened = new StreamZip.async({ file: zip, skipEntryNameValidation: true });
  const entries: StreamZip.ZipEntry[] = [];
  opened.on('entry', (entry) => entries.push(entry)); // its record of entries loses one that is named __proto__
  await opened.entriesCount;
  entries.sort((a, b) => a.offset - b.offset);
  const archives: ReadableArchive[] = [];
  for (const [at, entry] of entries.entries()) {
    const file = path.join(folder, `archive-${at + 1}`); // whatever its name is
    await pipeline(await opened.stream(entry), createWriteStream(file)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.syscall === undefined) throw error; // of the zip
        const text = `${entry.name} cannot be unpacked in ${tmpdir()}: ${reasonOf(error)}. TMPDIR names another folder.`;
        throw new Fault(text, { cause: error });
      },
    );
    archives.push({ source: entry.name, file, sha256: await sha256Of(file) });
  }
  await opened.close(); // not after an error: a read that is still in progress would end the process
  return archives;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
