import type { DatabaseSync } from 'node:sqlite';
import { files } from '../../tools/files.ts';
import { isDamage } from '../../tools/sqlite/codes.ts';
import { openTwice } from '../../tools/sqlite/found-twice.ts';
import { EventLogUnusable } from '../event-log.ts';
import { openForReading } from './connection.ts';
import { eventAt, type Head, lastEventOf, readHead } from './head-file.ts';
import { hasKnownSchema } from './schema.ts';

/**
 * Must be called before any write to the file: a log that lost events must not be continued. Reads through a read-only
 * connection, so that the rest of a corrupt WAL stays for an operator.
 * @throws {EventLogUnusable} the log is shorter than its head file says, has another event there, or is not a log.
 */
export function assertUndamaged(file: string): void {
  openTwice(
    () => lookAt(file),
    (error) => error instanceof EventLogUnusable && error.code === 'LOG_DAMAGED',
  );
}

function lookAt(file: string): void {
  // The head is read first: if the log grows in between, it is only ahead of its head.
  const head = readHead(file);
  if (files.statSync(file, { throwIfNoEntry: false }) === undefined) {
    if (!head) return;
    const how = `it is missing, but ${file}.head records ${head.position} events`;
    throw damaged(file, `${how}. Restore it, or also remove that file if another log is to be stored here`);
  }
  const db = openForReading(file);
  try {
    assertReaches(db, file, head);
  } catch (error) {
    if (isDamage(error)) throw damaged(file, String(error), { cause: error });
    throw error;
  } finally {
    db.close();
  }
}

function assertReaches(db: DatabaseSync, file: string, head: Head | undefined): void {
  const last = hasKnownSchema(db, file) ? lastEventOf(db)() : undefined;
  if (!head) return;
  const end = last?.position ?? 0;
  if (end < head.position) {
    throw damaged(file, `it ends at event ${end}, but ${file}.head records ${head.position}`);
  }
  const found = eventAt(db, head.position);
  if (found?.id === head.id && found.hash === head.hash) return;
  const [want, is] = [head, found].map((event) => `${event?.id} with hash ${event?.hash}`);
  throw damaged(file, `its event ${head.position} is ${is}, but ${file}.head records ${want}`);
}

function damaged(file: string, how: string, options?: ErrorOptions): EventLogUnusable {
  const text = `The event log ${file} is corrupt: ${how}. Restore it from a backup.`;
  return new EventLogUnusable('LOG_DAMAGED', text, options);
}
