import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Operation } from './operation.ts';

/** The result of checking a history. */
export type Judgement = {
  readonly deposits: number;
  readonly operations: number;
  readonly unknown: number;
  /** Answers of nodes that may lag behind the log that only an earlier state explains. */
  readonly stale: number;
  readonly violations: readonly Violation[];
  /** Deposits of which the checker could not say in time whether their histories are linearizable. */
  readonly undecided: readonly number[];
};

type Violation = {
  readonly deposit: number;
  /** The fewest operations that contradict each other. */
  readonly text: string;
  /** The file with Porcupine's visualization. */
  readonly html: string;
};

const SOURCES = path.join(import.meta.dirname, '..', 'linearizability');
/** Time limits for the download of modules and for each command of Go, and for checking a history, in milliseconds. */
const [BUILD_MS, CHECK_MS] = [300_000, 600_000];
const run = promisify(execFile);

/** The checker could not be built, or does not pass its tests. */
export class NotBuilt extends Error {
  override readonly name = 'NotBuilt';
  readonly isGoMissing: boolean;

  constructor(
    what: string,
    error: NodeJS.ErrnoException & { readonly stdout?: string; readonly stderr?: string },
  ) {
    const isGoMissing = error.code === 'ENOENT';
    const { stdout = '', stderr = error.message } = error;
    super(isGoMissing ? 'go is not installed' : `${what} failed: ${stdout}${stderr}`);
    this.isGoMissing = isGoMissing;
  }
}

/** Tests the checker and builds it in the folder. Resolves to its path. @throws {NotBuilt} */
export async function builtChecker(folder: string): Promise<string> {
  const program = path.join(folder, 'linearizability');
  await go('test', '.');
  await go('build', '-o', program, '.');
  return program;
}

async function go(...args: readonly string[]): Promise<void> {
  try {
    await run('go', args, { cwd: SOURCES, timeout: BUILD_MS });
  } catch (error) {
    throw new NotBuilt(`go ${args[0]}`, error as NodeJS.ErrnoException);
  }
}

/** Writes the history as JSON lines into the folder and has it checked; visualizations of violations are put there. */
export async function judged(
  program: string,
  operations: readonly Operation[],
  folder: string,
): Promise<Judgement> {
  const file = path.join(folder, 'history.jsonl');
  await writeFile(file, operations.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
  const { stdout } = await run(program, ['-html', folder, file], { timeout: CHECK_MS, maxBuffer: 1024 ** 3 });
  return JSON.parse(stdout) as Judgement;
}
