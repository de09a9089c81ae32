import { getSystemErrorMessage } from 'node:util';

/** What could not be done to a file, by the call to the system that failed. */
const UNDONE: Readonly<Record<string, string>> = {
  open: 'opened',
  read: 'read',
  scandir: 'read',
  access: 'read',
  mkdir: 'made',
  write: 'written to',
  rename: 'renamed',
  link: 'made',
  unlink: 'removed',
  rm: 'removed',
};

/** The fault of a call to the system on a file as one sentence; `undefined` when the error is none. */
export function systemErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || errno === undefined || syscall === undefined || path === undefined) {
    return undefined;
  }
  const isTaken = code === 'EEXIST' && syscall === 'mkdir';
  const why = isTaken ? 'there is something else in its place' : getSystemErrorMessage(errno);
  return `${path} cannot be ${UNDONE[syscall] ?? 'used'}: ${why} (${code}).`;
}
