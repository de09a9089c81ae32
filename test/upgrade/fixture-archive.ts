import { readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';

/** Packs a folder as tar.gz. The same files give the same bytes, with any times and owners. */
export async function packedFolder(folder: string): Promise<Buffer> {
  const packing = pack();
  const packed = buffer(packing);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const name of names) {
    const about = await stat(path.join(folder, name));
    const entry = { name, mode: about.mode & 0o777, mtime: new Date(0), uid: 0, gid: 0 };
    if (about.isDirectory()) packing.entry({ ...entry, type: 'directory' });
    else packing.entry(entry, await readFile(path.join(folder, name)));
  }
  packing.finalize();
  return gzipSync(await packed, { level: 9 });
}

/** Unpacks a {@link packedFolder} into a folder; the files are as young as the moment. */
export async function unpackInto(folder: string, archive: Uint8Array): Promise<void> {
  const entries = Readable.from([gunzipSync(archive)]).pipe(extract());
  for await (const entry of entries) {
    const { name, type, mode } = entry.header;
    const place = path.join(folder, name);
    if (type === 'directory') await mkdir(place, { recursive: true });
    else {
      await mkdir(path.dirname(place), { recursive: true });
      await writeFile(place, await buffer(entry));
    }
    await chmod(place, mode);
    entry.resume();
  }
}
