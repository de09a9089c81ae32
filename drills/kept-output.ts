import { appendFileSync, copyFileSync, linkSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * With `DRILL_OUTPUT_DIR` set, what the services of a drill say, the files of their event logs and the refusals they
 * answer are kept there, for the scan that looks for secrets in them.
 */
export const outputFolder = process.env['DRILL_OUTPUT_DIR'];
/** Whether what is said will be looked at. */
export const isKept = outputFolder !== undefined;
/** Larger logs on other disks are not copied. */
const MOST_COPIED = 256 * 1024 ** 2;

/** Appends to a file of this drill. */
export function keep(name: string, text: string | Buffer): void {
  const file = placeOf(name);
  if (file !== undefined) appendFileSync(file, text);
}

/** The files stay when the data folder goes: as links, or where that is not possible as copies of what they are now. */
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

/** From now on every answer from 400 up that this process is given is kept. */
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

/** By the name of the drill, so that what is found can be traced. */
function placeOf(name: string): string | undefined {
  if (outputFolder === undefined) return undefined;
  mkdirSync(outputFolder, { recursive: true });
  return path.join(outputFolder, `${path.basename(process.argv[1] ?? 'drill', '.ts')}.${name}`);
}
