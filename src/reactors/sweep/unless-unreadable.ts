import type { EventLog } from '../../event-log/event-log.ts';

/** Called for a deposit whose stream cannot be read. */
export type OnUnreadable = (depositId: number, error: unknown) => void;

/**
 * Resolves to what `read` returns about one deposit. If its stream cannot be read, as after an operator has deleted it
 * in the engine, calls `onUnreadable` and resolves to `undefined`: one deposit must not hide the others.
 * @throws {EventLogUnavailable} the log cannot be read at all
 */
export async function unlessUnreadable<Found>(
  log: Pick<EventLog, 'head'>,
  read: () => Promise<Found>,
  onUnreadable: (error: unknown) => void,
): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    await log.head();
    onUnreadable(error);
    return undefined;
  }
}
