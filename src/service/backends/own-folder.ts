import { errorsOfCode } from '../../tools/coded-error.ts';
import { files } from '../../tools/files.ts';

/** A folder for the service contains files of other programs, whose users would lose access to them. */
class FolderNotOwn extends errorsOfCode('FOLDER_NOT_OWN') {}

const SETTINGS = {
  'data folder': 'DEPOSIT_DATA_DIR',
  'archive store': 'DEPOSIT_DATA_DIR or DEPOSIT_ARCHIVE_STORE',
} as const;

/** Names of which a folder in use has at least one. */
const NAMES: Readonly<Record<keyof typeof SETTINGS, readonly string[]>> = {
  'data folder': ['archives', 'event-log.sqlite', 'keys', 'operator.json', 'service.lock'],
  'archive store': ['incoming', 'small.sqlite', 'store-id', 'v1'],
};

/** A new file system has the first, and a start makes the second before it reads the settings. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['lost+found', 'compile-cache']);

/**
 * Verifies that a folder which other users may access is empty or one of the service: a start takes that access away.
 * @throws {FolderNotOwn} such as `/tmp` or `/var/lib`, named by mistake.
 */
export function assertOwnFolder(what: keyof typeof NAMES, folder: string): void {
  const mode = files.statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0 || process.getuid === undefined) return;
  const found = namesIn(folder);
  if (NAMES[what].some((name) => found.includes(name))) return;
  const other = found.find((name) => !name.startsWith('.') && !NOT_COUNTED.has(name));
  if (other === undefined) return;
  throw new FolderNotOwn(
    `${folder} is no ${what}: it has other files, such as ${other}. Give the service a folder of its own: ${SETTINGS[what]} says where.`,
  );
}

/** Returns the names in a folder; none of one that opening it will report as unusable. */
function namesIn(folder: string): readonly string[] {
  try {
    return files.readdirSync(folder);
  } catch {
    return [];
  }
}
