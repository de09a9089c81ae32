import { errorsOfCode } from '../../tools/coded-error.ts';
import { exists } from '../../tools/files/access.ts';
import { hasMark } from './own-folder.ts';

/** An embedded log or store is not where the settings say, though it must exist. */
export class BackendNotFound extends errorsOfCode('ENGINE_MISSING') {}

const SETTINGS = {
  'event log': 'DEPOSIT_DATA_DIR or DEPOSIT_EVENT_LOG',
  'archive store': 'DEPOSIT_DATA_DIR or DEPOSIT_ARCHIVE_STORE',
  'data folder': 'DEPOSIT_DATA_DIR',
} as const;

/**
 * Verifies that a log or store exists: opening a missing one would create it empty, and a command would work on that. An
 * empty folder is no store.
 * @throws {BackendNotFound}
 * @throws {NotPermitted}
 */
export function assertExists(what: keyof typeof SETTINGS, place: string): void {
  if (exists(place) && (what !== 'archive store' || hasMark(what, place))) return;
  throw new BackendNotFound(
    `No ${what} at ${place}. A service creates it at its first start; ${SETTINGS[what]} says where.`,
  );
}
