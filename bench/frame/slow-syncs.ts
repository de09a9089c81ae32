import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { refused } from '../../src/operations/command/command.ts';

const DELAY = 'BENCH_SYNC_DELAY_US';

/** Milliseconds that are added to each sync of this process. */
export function addedSyncTime(): number {
  return Number(process.env[DELAY] ?? 0) / 1000;
}

/**
 * Returns the environment that delays the syncs of a process and of all its children; `undefined` if there is no C
 * compiler. A preloaded library costs nothing but the delay; a tracer costs more.
 */
export function slowSyncs(milliseconds: number, folder: string): Record<string, string> | undefined {
  const library = path.join(folder, 'slow-syncs.so');
  const source = path.join(import.meta.dirname, 'slow-syncs.c');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  if (status !== 0) return undefined;
  return { LD_PRELOAD: library, [DELAY]: String(milliseconds * 1000) };
}

/**
 * Runs this program again with delayed syncs, and resolves to its exit code. Without a C compiler it uses strace: with
 * `--seccomp-bpf` only the syncs themselves stop for the tracer.
 */
export async function runWithSlowSyncs(milliseconds: number, folder: string): Promise<number> {
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const preloaded = slowSyncs(milliseconds, folder);
  const command = preloaded ? program : [...tracer(milliseconds * 1000), ...program];
  const env = { ...process.env, ...(preloaded ?? { [DELAY]: String(milliseconds * 1000) }) };
  const child = spawn(command[0] as string, command.slice(1), { env, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function tracer(microseconds: number): string[] {
  const inject = `inject=fsync,fdatasync:delay_exit=${microseconds}`;
  const args = ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject];
  if (spawnSync('strace', [...args, process.execPath, '--version']).status === 0) return ['strace', ...args];
  throw refused(
    'NO_SLOW_SYNCS',
    'Syncs cannot be made slower here: neither cc, to compile what delays them, nor strace 5.3 or later works.',
  );
}
