import { appendFileSync, copyFileSync, linkSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * With `DRILL_OUTPUT_DIR` set, the output of a drill's services, the files of their event logs and the refusals are
 * kept there, for the scan that searches them for secrets.
 */
export const outputFolder = process.env['DRILL_OUTPUT_DIR'];
/** Whether output is kept to be scanned. */
export const isKept = outputFolder !== undefined;
/** Larger logs on other disks are not copied. */
const MOST_COPIED = 256 * 1024 ** 2;

/** Appends to a file of this drill. */
export function keep(name: string, text: string | Buffer): void {
  const file = placeOf(name);
  if (file !== undefined) appendFileSync(file, text);
}

/** Keeps the files of the log after the data folder is removed: as links, or else as copies of their present state. */
export function keepLog(dataDir: string): void {
  if (outputFolder === undefined) return;
  for (const name of ['event-log.sqlite', 'event-log.sqlite-wal']) {
    const from = path.join(dataDir, name);
    const { ino, size } = statSync(from, { throwIfNoEntry: false }) ?? {};
    if (ino === undefined || size === undefined) continue;
    const to = placeOf(`${path.basename(dataDir)}.${ino}.${name}`) as string; // there is a folder
    try {
      linkSync(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EXDEV' && size <= MOST_COPIED) copyFileSync(from, to);
    }
  }
}

/** Keeps every answer from 400 up that this process receives from now on. */
export function keepRefusals(): void {
  if (outputFolder === undefined) return;
  const ask = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const answer = await ask(...request);
    if (answer.status < 400) return answer;
    const body = await answer.clone().text();
    keep('answers', `${answer.status} ${answer.url}\n${JSON.stringify([...answer.headers])}\n${body}\n`);
    return answer;
  };
}

/** Returns a path with the name of the drill, so that findings can be traced. */
function placeOf(name: string): string | undefined {
  if (outputFolder === undefined) return undefined;
  mkdirSync(outputFolder, { recursive: true });
  return path.join(outputFolder, `${path.basename(process.argv[1] ?? 'drill', '.ts')}.${name}`);
}
