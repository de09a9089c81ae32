import { files } from '../files.ts';
import { throwNaming } from './describe-fs-error.ts';

/** Opens a file, and closes it when `work` ends. @throws the error of the file system, with the file */
export function withDescriptor<T>(file: string, flags: string | number, work: (descriptor: number) => T): T {
  const descriptor = files.openSync(file, flags, 0o644);
  try {
    return work(descriptor);
  } catch (error) {
    return throwNaming(file)(error as NodeJS.ErrnoException);
  } finally {
    files.closeSync(descriptor);
  }
}
