import { files } from '../files.ts';

/** Opens a file, and closes it when `work` ends. @throws the error of the file system */
export function withDescriptor<T>(file: string, flags: string | number, work: (descriptor: number) => T): T {
  const descriptor = files.openSync(file, flags, 0o644);
  try {
    return work(descriptor);
  } finally {
    files.closeSync(descriptor);
  }
}
