import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { bytesOf, sha256Of } from './bodies.ts';

const SCRIPT = path.join(import.meta.dirname, 'processes', 'puts-until-killed.ts');

/** Reports of a process that come before its end, however slow the machine is. */
const LEAST_REPORTS = 20;

/**
 * Asserts that a store has every object whose put a process reported before it was killed. Each wait is the time in
 * milliseconds from the first reports of a process to its end.
 */
export async function losesNoPuts(t: ExecutionContext, waits: readonly number[]): Promise<void> {
  const folder = await temporaryFolder(t);
  const acknowledged: string[] = [];
  for (const wait of waits) acknowledged.push(...(await putUntilKilled(folder, wait)));
  await using store = await FilesystemObjectStore.open({ folder });
  const stored = new Set<string>();
  for await (const { sha256 } of store.list()) {
    t.is(sha256Of(await bytesOf(store, sha256)), sha256);
    stored.add(sha256);
  }
  t.deepEqual(
    acknowledged.filter((sha256) => !stored.has(sha256)),
    [],
  );
  await store.sweepIncoming(new Date(Date.now() + 60_000));
  t.deepEqual(await readdir(path.join(folder, 'incoming')), []);
}

async function putUntilKilled(folder: string, wait: number): Promise<string[]> {
  const child = spawn(process.execPath, [SCRIPT, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text) => (printed += String(text)));
  const reported = (): string[] => printed.split('\n').filter((line) => line.length === 64);
  await until(async () => reported().length >= LEAST_REPORTS);
  await pause(wait);
  child.kill('SIGKILL');
  await once(child, 'close');
  if (child.signalCode !== 'SIGKILL') throw new Error(`the child ended with ${child.exitCode} by itself`);
  return reported();
}
