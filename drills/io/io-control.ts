import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

/** Kinds of calls that can fail, as watched-io.c numbers them. `rename` includes second names, `unlink` folders. */
const KINDS = {
  open: 1,
  read: 2,
  write: 4,
  sync: 8,
  rename: 16,
  unlink: 32,
  truncate: 64,
  mkdir: 128,
} as const;

export type Kind = keyof typeof KINDS;

export type FailingIo = {
  /** All files below it are watched. */
  readonly folder: string;
  readonly kind: Kind;
  readonly error: 'EIO' | 'ENOSPC';
  /** Whether half of a failing write is written. Such a read returns its first half, as where only a later block fails. */
  readonly isTorn: boolean;
  /** Number of the call that fails, from 1 on; 0: none. */
  readonly nth: number;
};

const CONTROL = 'DRILL_IO_CONTROL';
/** Offsets in `struct control` of watched-io.c. */
const OFFSETS = { kind: 0, error: 4, torn: 8, journals: 12, nth: 16, failed: 24, counts: 32 } as const;
const FOLDER = 96;
const TEXT_BYTES = 1024;
const CONTROL_BYTES = FOLDER + 2 * TEXT_BYTES;

/**
 * Runs this program again with its calls watched, and with those of the commands that it starts. Resolves to the exit
 * code, or to `undefined` in the program that is watched.
 */
export function runWatched(): number | undefined {
  if (process.env[CONTROL] !== undefined) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), 'watched-io-'));
  const library = path.join(folder, 'watched-io.so');
  const source = path.join(import.meta.dirname, 'watched-io.c');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-pthread'], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`watched-io.c cannot be compiled: ${built.stderr}`);
  const control = path.join(folder, 'control');
  const descriptor = openSync(control, 'w');
  writeSync(descriptor, Buffer.alloc(CONTROL_BYTES));
  closeSync(descriptor);
  const env = {
    NODE_COMPILE_CACHE: path.join(folder, 'compile-cache'), // else every command compiles its sources again
    ...process.env,
    LD_PRELOAD: library,
    [CONTROL]: control,
    UV_USE_IO_URING: '0',
  };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' });
  rmSync(folder, { recursive: true });
  return status ?? 1;
}

/** Returns why calls cannot be watched here; `undefined` if they can. */
export function whyNotWatched(): string | undefined {
  if (process.platform !== 'linux') return 'calls are watched with LD_PRELOAD on Linux only';
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'no C compiler (cc) is installed';
}

/** The calls of this process and of its commands. Nothing is watched until it is asked for. */
export class WatchedIo implements Disposable {
  readonly #descriptor = openSync(process.env[CONTROL] as string, 'r+'); // set by runWatched

  /** Returns the number of calls of the kind since {@link fail}. */
  count(kind: Kind): number {
    return Number(this.#read().readBigInt64LE(OFFSETS.counts + 8 * Math.log2(KINDS[kind])));
  }

  get hasFailed(): boolean {
    return this.#read().readBigInt64LE(OFFSETS.failed) > 0n;
  }

  /** From now on all calls are counted, and the n-th of the kind fails; with 0 none does. */
  fail({ folder, kind, error, isTorn, nth }: FailingIo): void {
    const control = Buffer.alloc(CONTROL_BYTES);
    control.writeInt32LE(KINDS[kind], OFFSETS.kind);
    control.writeInt32LE(constants.errno[error], OFFSETS.error);
    control.writeInt32LE(isTorn ? 1 : 0, OFFSETS.torn);
    control.writeBigInt64LE(BigInt(nth), OFFSETS.nth);
    control.write(folder, FOLDER);
    this.#write(control);
  }

  /** From now on all that changes the folder is appended to the journal. */
  journal(folder: string, journal: string): void {
    const control = Buffer.alloc(CONTROL_BYTES);
    control.writeInt32LE(1, OFFSETS.journals);
    control.write(folder, FOLDER);
    control.write(journal, FOLDER + TEXT_BYTES);
    this.#write(control);
  }

  /** From now on nothing is watched. The counts stay as they are. */
  release(): void {
    const control = this.#read();
    control.writeInt32LE(0, OFFSETS.kind);
    control.writeInt32LE(0, OFFSETS.journals);
    control.fill(0, FOLDER);
    this.#write(control);
  }

  [Symbol.dispose](): void {
    this.release();
    closeSync(this.#descriptor);
  }

  #read(): Buffer {
    const control = Buffer.alloc(CONTROL_BYTES);
    readSync(this.#descriptor, control, 0, CONTROL_BYTES, 0);
    return control;
  }

  #write(control: Buffer): void {
    writeSync(this.#descriptor, control, 0, CONTROL_BYTES, 0);
  }
}
