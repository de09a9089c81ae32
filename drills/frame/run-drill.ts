import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import type { Finding } from './drill.ts';
import type { PlannedDrill } from './programme.ts';

/** The result of one drill. */
export type DrillRun = Finding & { readonly name: string; readonly seconds: number };

export type RunOptions = {
  readonly isShort: boolean;
  /** Folder for the output of the drill and its services. */
  readonly outputDir: string;
  readonly signal: AbortSignal;
  /** Called with each line of progress. */
  readonly onProgress: (line: string) => void;
};

/**
 * Runs a drill in a process group of its own, which is killed when the drill ends or its time is over. A drill that
 * fails counts as broken.
 */
export async function runPlanned(drill: PlannedDrill, options: RunOptions): Promise<DrillRun> {
  const { isShort, outputDir, signal, onProgress } = options;
  const file = path.join(import.meta.dirname, '..', `${drill.name}.ts`);
  const args = [file, ...(isShort ? ['--short'] : (drill.args ?? [])), '--json'];
  const temporary = path.join(outputDir, 'tmp');
  const env = {
    ...process.env,
    DRILL_OUTPUT_DIR: outputDir,
    TMPDIR: temporary,
    // Without the cache every service and command would compile all sources again.
    NODE_COMPILE_CACHE: path.join(tmpdir(), 'deposit-compile-cache'),
  };
  mkdirSync(temporary, { recursive: true });
  const limit = (isShort ? drill.shortLimit : drill.limit) ?? 300;
  const begun = performance.now();
  const child = spawn(process.execPath, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const killGroup = (): void => endGroup(child.pid);
  const timer = setTimeout(killGroup, limit * 1000);
  signal.addEventListener('abort', killGroup, { once: true });
  const kept = createWriteStream(path.join(outputDir, `${drill.name}.drill`));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
    kept.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err = (err + chunk.toString()).slice(-4000);
    kept.write(chunk);
    onProgress(err.trimEnd().split('\n').at(-1) ?? '');
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => {
      killGroup(); // services that it left would hold the pipes
      child.once('close', () => resolve(status));
    });
  });
  clearTimeout(timer);
  signal.removeEventListener('abort', killGroup);
  await finished(kept.end());
  rmSync(temporary, { recursive: true, force: true }); // processes that a killed drill has left
  const seconds = (performance.now() - begun) / 1000;
  const finding =
    findingIn(out) ?? failed(drill, code, seconds >= limit ? `it took more than ${limit} s` : err);
  return { name: drill.name, seconds, ...finding };
}

function findingIn(out: string): Finding | undefined {
  const last = out.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{"tried":') ? (JSON.parse(last) as Finding) : undefined;
}

function failed({ what }: PlannedDrill, code: number | null, why: string): Finding {
  const broken = `It ended with ${code ?? 'a signal'} before it found anything: ${why.trim()}`;
  return { tried: what, held: '', broken: [broken], numbers: {} };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // all have ended already
  }
}
