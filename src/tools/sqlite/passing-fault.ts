import { describeFsError } from '../files/describe-fs-error.ts';
import { withDescriptor } from '../files/with-descriptor.ts';
import { files } from '../files.ts';
import { isDamage } from './codes.ts';
import { openSqliteToRead } from './reading.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Returns why a file that seemed corrupt cannot be read at present, `undefined` if it is corrupt: SQLite reports reads
 * that the disk refuses as corruption. Reads the whole file. The process must have closed it before: closing a
 * descriptor drops SQLite's locks.
 */
export function passingFault(file: string): string | undefined {
  try {
    for (const name of [file, `${file}-wal`]) readThrough(name);
    return isIntact(file)
      ? `${file} seemed corrupt and is intact: its disk may have refused a read.`
      : undefined;
  } catch (error) {
    if (isDamage(error)) return undefined;
    return describeFsError(error) ?? `${file} cannot be read: ${(error as Error).message}.`;
  }
}

/** @throws the error of the first read that the disk refuses */
function readThrough(file: string): void {
  if (files.statSync(file, { throwIfNoEntry: false }) === undefined) return;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  withDescriptor(file, 'r', (descriptor) => {
    let position = 0;
    for (let length = -1; length !== 0; position += length)
      length = files.readSync(descriptor, chunk, 0, CHUNK_BYTES, position);
  });
}

function isIntact(file: string): boolean {
  using database = openSqliteToRead(file, 1_000);
  return database.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'] === 'ok';
}
