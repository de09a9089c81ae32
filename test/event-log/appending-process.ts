import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const SCRIPT = path.join(import.meta.dirname, 'processes', 'appends-and-reports.ts');

export type Acknowledged = { readonly stream: string; readonly revision: number; readonly id: string };

export type AppendingProcess = {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  /** The appends that it has reported so far. */
  readonly acknowledged: readonly Acknowledged[];
  /** Its exit code, or the signal that ended it; resolves when its whole output has been read. */
  readonly ended: Promise<number | string | null>;
};

/** Starts another process that appends to the log: `writers` streams `<name>-<n>`, `count` events each. */
export function appendingProcess(
  file: string,
  name: string,
  writers: number,
  count: number,
): AppendingProcess {
  const child = spawn(process.execPath, [SCRIPT, file, name, `${writers}`, `${count}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: Acknowledged[] = [];
  createInterface(child.stdout).on('line', (line) => {
    const [stream = '', revision, id = ''] = line.split(' ');
    // The last line of a killed process may be cut.
    if (id.length === 36) acknowledged.push({ stream, revision: Number(revision), id });
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string | null);
  return { child, acknowledged, ended };
}

/** Kills a process once it has reported `count` appends; resolves to the reported appends. */
export async function killedAppending(
  file: string,
  name: string,
  count: number,
): Promise<readonly Acknowledged[]> {
  const { child, acknowledged, ended } = appendingProcess(file, name, 4, 1_000_000);
  child.stdout.on('data', () => {
    if (acknowledged.length >= count) child.kill('SIGKILL');
  });
  await ended;
  return acknowledged;
}
