import { errorsOfCode } from '../coded-error.ts';
import { files } from '../files.ts';

/** A file of an open database was moved, deleted or replaced. */
class DatabaseMoved extends errorsOfCode('DATABASE_MOVED') {}

/** The inode of each file of an open database. */
export type OpenFiles = ReadonlyMap<string, number | undefined>;

/** Identifies the files of a database that is open for writing. */
export function openFilesOf(file: string): OpenFiles {
  return new Map([file, `${file}-wal`, `${file}-shm`].map((name) => [name, inodeOf(name)]));
}

/**
 * Must be called before and after each commit: SQLite goes on writing to files that have lost their names, and the next
 * start would not find what was committed there.
 * @throws {DatabaseMoved}
 */
export function assertInPlace(open: OpenFiles): void {
  for (const [name, inode] of open) {
    const found = inodeOf(name);
    if (inode === undefined || found === inode) continue;
    const what = found === undefined ? 'moved or deleted' : 'replaced by another file';
    throw new DatabaseMoved(
      `${name} was ${what} while it was in use. Bring it back, or stop the service before you move its files`,
    );
  }
}

function inodeOf(file: string): number | undefined {
  return files.statSync(file, { throwIfNoEntry: false })?.ino;
}
