import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CutOff } from '../src/cut-off.ts';
import { syncFolder } from '../src/durable-folders.ts';

/** Writes a file that appears complete or not at all, and is there after a power cut. @throws the reason of the signal */
export async function writeWholeFile(
  file: string,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`;
  try {
    await using handle = await open(unfinished, 'wx');
    await handle.writeFile(Readable.from(untilStopped(text, signal)));
    await handle.sync();
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncFolder(path.dirname(file));
}

/** Does not wait for text that is still being read. */
async function* untilStopped(text: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string> {
  const stopped = new CutOff();
  signal.addEventListener('abort', () => stopped.cut(signal.reason));
  const pieces = text[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await stopped.unless(pieces.next());
    if (done) return;
    yield value;
  }
}
