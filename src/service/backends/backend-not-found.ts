import { errorsOfCode } from '../../tools/coded-error.ts';
import { exists } from '../../tools/files/access.ts';
import { hasMark, SETTINGS } from './own-folder.ts';

/** An embedded log or store is not where the settings say, though it must exist. */
export class BackendNotFound extends errorsOfCode('ENGINE_MISSING') {
  /** Names what is missing, in a sentence; the message also names the settings. */
  readonly missing: string;

  constructor(missing: string, advice: string) {
    super(`${missing} ${advice}`);
    this.missing = missing;
  }
}

/**
 * Verifies that a log or store exists: opening a missing one would create it empty, and a command would work on that. An
 * empty folder is no store.
 * @throws {BackendNotFound}
 * @throws {NotPermitted}
 */
export function assertExists(what: keyof typeof SETTINGS, place: string): void {
  if (exists(place) && (what !== 'archive store' || hasMark(what, place))) return;
  throw new BackendNotFound(
    `No ${what} at ${place}.`,
    `A service creates it at its first start; ${SETTINGS[what]} says where.`,
  );
}
