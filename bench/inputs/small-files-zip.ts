import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** Makes a zip of files of 1 KB of text that compresses to about a third, in folders of a hundred files. */
export async function zipSmallFiles(file: string, count: number): Promise<void> {
  const zip = new ZipFile();
  for (let member = 0; member < count; member += 1) {
    const content = createHash('sha512').update(String(member)).digest('hex').repeat(8);
    zip.addBuffer(Buffer.from(content), `tree/${Math.floor(member / 100)}/file-${member}.txt`);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}
