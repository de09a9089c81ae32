import { existsSync } from 'node:fs';

/** An embedded engine that somebody was to find is not where the settings say. */
export class EngineMissing extends Error {
  override readonly name = 'EngineMissing';
  readonly code = 'ENGINE_MISSING';
}

const SETTINGS = { 'event log': 'DEPOSIT_EVENT_LOG', 'archive store': 'DEPOSIT_ARCHIVE_STORE' } as const;

/** Opening it would make it, empty, and whoever goes on would take that for all there is. @throws {EngineMissing} */
export function assertThere(what: keyof typeof SETTINGS, place: string): void {
  if (existsSync(place)) return;
  const settings = `DEPOSIT_DATA_DIR or ${SETTINGS[what]}`;
  throw new EngineMissing(
    `There is no ${what} at ${place}: a service makes it when it first starts, where its ${settings} says.`,
  );
}
