import { spawnSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';

/** A folder that can become full and be given disk space again while a service uses it. */
export type SmallDisk = AsyncDisposable & {
  /** Describes how it is limited. */
  readonly kind: string;
  /** Must be called when the service has started. */
  limit(pid: number): void;
  makeRoom(pid: number): void;
};

const MIB = 1024 ** 2;

/** Whether this process may mount, as it may in its own user namespace (`unshare -rm`). */
export function mayMount(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}

/** Runs this program again where it may mount; resolves to its exit code, `undefined` if that is not possible. */
export function runWhereItMayMount(): number | undefined {
  const mark = 'DRILL_IN_NAMESPACE';
  if (process.env[mark] !== undefined || spawnSync('unshare', ['-rm', 'true']).status !== 0) return undefined;
  const { status } = spawnSync('unshare', ['-rm', process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, [mark]: '1' },
    stdio: 'inherit',
  });
  return status ?? 1;
}

/** Mounts a tmpfs of this number of MiB on the folder. */
export async function tmpfsOn(folder: string, mebibytes: number): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', folder);
  return {
    kind: `a tmpfs of ${mebibytes} MiB`,
    limit: () => {},
    makeRoom: () => run('mount', '-o', 'remount,size=1g', folder),
    [Symbol.asyncDispose]: async () => run('umount', '-l', folder),
  };
}

/** Limits every file of the service to this number of MiB, if nothing can be mounted. */
export async function limitedFiles(folder: string, mebibytes: number): Promise<SmallDisk> {
  await mkdir(folder, { recursive: true });
  return {
    kind: `a limit of ${mebibytes} MiB a file`,
    limit: (pid) => run('prlimit', '--pid', String(pid), `--fsize=${mebibytes * MIB}:`),
    makeRoom: (pid) => run('prlimit', '--pid', String(pid), '--fsize=unlimited:'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function run(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}
