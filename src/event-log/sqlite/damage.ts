import type { DatabaseSync } from 'node:sqlite';
import { isDamage } from '../../sqlite/codes.ts';
import { files } from '../../tools/files.ts';
import { EventLogRefused } from '../event-log-refused.ts';
import { openForReading } from './connection.ts';
import { eventAt, type Head, lastEventOf, readHead } from './head-file.ts';
import { hasKnownSchema } from './schema.ts';

/**
 * Before anything may write to the file: a log that lost events must not go on as if nothing had happened.
 * Looks through a connection that only reads, so that what is left of a damaged WAL stays for an operator.
 * @throws {EventLogRefused} the log is shorter than its head file says, has another event there, or is no log.
 */
export function assertUndamaged(file: string): void {
  // The head is read first: the log may grow in between, and is ahead of its head then.
  const head = readHead(file);
  if (!files.existsSync(file)) {
    if (!head) return;
    const how = `it is missing, but ${file}.head records ${head.position} events`;
    throw damaged(file, `${how}. Bring it back, or remove that file, too, where another log is to come here`);
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

function damaged(file: string, how: string, options?: ErrorOptions): EventLogRefused {
  return new EventLogRefused('LOG_DAMAGED', `The event log ${file} is damaged: ${how}.`, options);
}
