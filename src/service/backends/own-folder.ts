import { errorsOfCode } from '../../tools/coded-error.ts';
import { files } from '../../tools/files.ts';

/** A folder for the service contains files of other programs, whose users would lose access to them. */
class FolderNotOwn extends errorsOfCode('FOLDER_NOT_OWN') {}

/** The settings that say where each is. */
export const SETTINGS = {
  'event log': 'DEPOSIT_DATA_DIR or DEPOSIT_EVENT_LOG',
  'archive store': 'DEPOSIT_DATA_DIR or DEPOSIT_ARCHIVE_STORE',
  'data folder': 'DEPOSIT_DATA_DIR',
} as const;

type Folder = 'data folder' | 'archive store';
type Names = Readonly<Record<Folder, readonly string[]>>;

/** Names that no other program gives: a folder with one of them is in use by the service, whatever else is in it. */
const MARKS: Names = {
  'data folder': ['event-log.sqlite', 'operator.json', 'service.lock'],
  'archive store': ['small.sqlite', 'store-id', 'v1'],
};

/** Other names that a start or a command makes, or that a volume is mounted on, before there is such a mark. */
const OTHERS: Names = {
  'data folder': [
    'archives',
    'checkpoints',
    'compile-cache',
    'dry-runs',
    'incoming',
    'keys',
    'uploads',
    'views',
    'anchor-state.json',
    'anchoring.lock',
    'last-backup',
    'last-verification',
    'verify-state.json',
  ],
  'archive store': ['incoming'],
};

/**
 * Verifies that a folder which other users may access is empty or one of the service: a start takes that access away.
 * @throws {FolderNotOwn} such as `/tmp` or `/var/lib`, named by mistake.
 */
export function assertOwnFolder(what: Folder, folder: string): void {
  if (!isOpenToOthers(folder) || hasMark(what, folder)) return;
  // A new file system has `lost+found`.
  const own = [...MARKS[what], ...OTHERS[what], '.', 'lost+found'];
  const other = namesIn(folder).find((name) => !own.some((beginning) => name.startsWith(beginning)));
  if (other === undefined) return;
  throw new FolderNotOwn(
    `${folder} is no ${what}: it has other files, such as ${other}. Give the service a folder of its own: ${SETTINGS[what]} says where. If this one is, take it from other users: chmod 700 ${folder}`,
  );
}

/** Whether the service has used the folder: the place where a disk is to be mounted exists as well, but is empty. */
export function hasMark(what: Folder, folder: string): boolean {
  const found = namesIn(folder);
  return MARKS[what].some((name) => found.includes(name));
}

/** Returns false as well for a folder that opening it will report as unusable. */
function isOpenToOthers(folder: string): boolean {
  try {
    return process.getuid !== undefined && (files.statSync(folder).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}

/** Returns the names in a folder; none of one that opening it will report as unusable. */
function namesIn(folder: string): readonly string[] {
  try {
    return files.readdirSync(folder);
  } catch {
    return [];
  }
}
