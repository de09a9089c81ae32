import path from 'node:path';
import { Readable } from 'node:stream';
import { AbortGate } from '../../tools/concurrency/abort-gate.ts';
import { throwNaming } from '../../tools/files/describe-fs-error.ts';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { files } from '../../tools/files.ts';
import { random } from '../../tools/random.ts';
import { refused } from './command.ts';

/**
 * Writes a file atomically and durably, readable only for its owner. Refuses what is no file, such as a device, since the
 * new file would take its place. @throws the reason of the signal
 */
export async function writeWholeFile(
  file: string,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  if (files.statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw refused('NOT_A_FILE', `${file} exists and is not a file: give another path.`);
  const unfinished = `${file}.${random.uuid()}.new`;
  try {
    await using handle = await files.open(unfinished, 'wx', 0o600);
    await handle.writeFile(Readable.from(untilStopped(text, signal))).catch(throwNaming(file));
    await handle.sync().catch(throwNaming(file));
    await files.rename(unfinished, file);
  } finally {
    await files.rm(unfinished, { force: true });
  }
  await syncFolder(path.dirname(file));
}

/** Yields text until the signal aborts, without waiting for text that is still being read. */
async function* untilStopped(text: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted(); // while the file was opened
  const stopped = new AbortGate();
  signal.addEventListener('abort', () => stopped.abort(signal.reason));
  const pieces = text[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await stopped.race(pieces.next());
    if (done) return;
    yield value;
  }
}
