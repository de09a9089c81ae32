import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';

/** Unpacks a tar.gz of the fixtures into a folder; the files are as young as the moment. */
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
