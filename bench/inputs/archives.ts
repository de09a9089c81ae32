import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { ended } from './ended.ts';

/** An archive, and the SHA-256 of its bytes. */
export type MadeArchive = { readonly file: string; readonly sha256: string };

/** Makes a zip and a tar.gz of the folder next to it, unless they exist. */
export async function makeArchives(
  folder: string,
): Promise<{ readonly zip: MadeArchive; readonly tarGz: MadeArchive }> {
  const [zip, tarGz] = [`${folder}.zip`, `${folder}.tar.gz`];
  await once(zip, (file) => zipFolder(folder, file));
  await once(tarGz, (file) => ended('tar', ['czf', file, '-C', path.dirname(folder), path.basename(folder)]));
  return { zip: await madeArchive(zip), tarGz: await madeArchive(tarGz) };
}

/** Makes a file under a temporary name and renames it when it is complete. */
async function once(file: string, make: (file: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) return;
  await make(`${file}.part`);
  renameSync(`${file}.part`, file);
}

async function zipFolder(folder: string, file: string): Promise<void> {
  const zip = new ZipFile();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const place = path.join(entry.parentPath, entry.name);
    zip.addFile(place, path.relative(path.dirname(folder), place));
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}

/** Resolves to an archive that exists, with its digest. */
export async function madeArchive(file: string): Promise<MadeArchive> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { file, sha256: hash.digest('hex') };
}
