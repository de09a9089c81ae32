import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { throwNaming } from '../../tools/files/describe-fs-error.ts';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { files } from '../../tools/files.ts';
import { type Anchor, anchorDigest, anchorIn, anchorLine, isCutLine } from './anchor.ts';

/** Thrown when the anchor file belongs to another log or to something else. */
class ForeignAnchorFile extends errorsOfCode('FOREIGN_ANCHOR_FILE') {}

/** Bytes read from the end of the file, more than the longest line has. */
const TAIL_BYTES = 16 * 1024;

/**
 * Appends, durably, every anchor that the file does not have yet. `newestFirst` are the anchors of the log, read only
 * as far as needed. Replaces a line that a crash left incomplete.
 * @throws {ForeignAnchorFile} its last anchor is not one of the log: it is another log's, or this log has lost some.
 */
export async function appendMissing(file: string, newestFirst: AsyncIterable<Anchor>): Promise<number> {
  await using handle = await files.open(file, 'a+');
  const { last, end, separator } = await tailOf(handle, file);
  const missing: string[] = [];
  let found = last === undefined;
  for await (const anchor of newestFirst) {
    if (last !== undefined && anchorDigest(anchor) === anchorDigest(last)) {
      found = true;
      break;
    }
    missing.unshift(`${anchorLine(anchor)}\n`);
  }
  if (!found) {
    throw new ForeignAnchorFile(
      `The last anchor in ${file} is not in this log: the file is another log's, or this log has lost events. Run verify with --anchors ${file}; give a new file to continue.`,
    );
  }
  if (missing.length === 0) return 0;
  await handle.truncate(end).catch(throwNaming(file));
  await handle.appendFile(separator + missing.join('')).catch(throwNaming(file));
  await handle.sync().catch(throwNaming(file));
  await syncFolder(path.dirname(path.resolve(file)));
  return missing.length;
}

type Tail = {
  /** The last complete anchor, also where only the end of its line is missing. */
  readonly last: Anchor | undefined;
  /** Where the next one is appended, and what goes before it. */
  readonly end: number;
  readonly separator: '' | '\n';
};

async function tailOf(handle: FileHandle, file: string): Promise<Tail> {
  const { size } = await handle.stat();
  const start = Math.max(0, size - TAIL_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  const lines = buffer.toString('latin1', 0, bytesRead).split('\n');
  const rest = lines.pop() ?? '';
  const unended = wholeAnchorIn(rest);
  if (unended) return { last: unended, end: size, separator: '\n' };
  const line = isCutLine(rest) ? lines.at(-1) : rest;
  if (line === undefined && start === 0) return { last: undefined, end: 0, separator: '' };
  try {
    return { last: anchorIn(line ?? ''), end: size - rest.length, separator: '' };
  } catch (cause) {
    throw new ForeignAnchorFile(`The last line of ${file} is not an anchor: give a new file.`, { cause });
  }
}

/** Returns the anchor in a line, if a crash has left it whole. */
function wholeAnchorIn(line: string): Anchor | undefined {
  try {
    return anchorIn(line);
  } catch {
    return undefined;
  }
}
