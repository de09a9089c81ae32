import { getSystemErrorMessage } from 'node:util';

/** Participles of what failed, by the system call. */
const PARTICIPLES: Readonly<Record<string, string>> = {
  open: 'opened',
  read: 'read',
  scandir: 'read',
  access: 'read',
  mkdir: 'made',
  write: 'written to',
  fsync: 'written to',
  rename: 'renamed',
  link: 'made',
  unlink: 'removed',
  rm: 'removed',
};

/** Describes a failed system call on a file as one sentence; returns `undefined` for other errors. */
export function describeFsError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined || syscall === undefined || path === undefined) {
    return undefined;
  }
  const isTaken = code === 'EEXIST' && syscall === 'mkdir';
  const why = isTaken ? 'something else is in its place' : getSystemErrorMessage(errno);
  return `${path} cannot be ${PARTICIPLES[syscall] ?? 'used'}: ${why} (${code}).`;
}

/** Returns a handler that throws the error with the file, which Node does not name if a write to an open file fails. */
export function throwNaming(file: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw error.syscall !== undefined && error.path === undefined
      ? Object.assign(error, { path: file })
      : error;
  };
}
