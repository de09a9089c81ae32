import { isThere } from './permission.ts';

/** An embedded engine that somebody was to find is not where the settings say. */
export class EngineMissing extends Error {
  override readonly name = 'EngineMissing';
  readonly code = 'ENGINE_MISSING';
}

const SETTINGS = {
  'event log': 'DEPOSIT_DATA_DIR or DEPOSIT_EVENT_LOG',
  'archive store': 'DEPOSIT_DATA_DIR or DEPOSIT_ARCHIVE_STORE',
  'data folder': 'DEPOSIT_DATA_DIR',
} as const;

/**
 * Opening it would make it, empty, and whoever goes on would take that for all there is.
 * @throws {EngineMissing}
 * @throws {NotPermitted}
 */
export function assertThere(what: keyof typeof SETTINGS, place: string): void {
  if (isThere(place)) return;
  throw new EngineMissing(
    `There is no ${what} at ${place}: a service makes it when it first starts, where its ${SETTINGS[what]} says.`,
  );
}
