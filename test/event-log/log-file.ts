import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { SqliteEventLog, type SqliteEventLogOptions } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

/** Resolves to a path for a log, in a folder that is removed after the test. */
export async function newLogFile(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder(t);
  return path.join(folder, 'log.sqlite');
}

export async function openLog(t: ExecutionContext, options: SqliteEventLogOptions): Promise<SqliteEventLog> {
  const log = await SqliteEventLog.open(options);
  t.teardown(() => log[Symbol.asyncDispose]());
  return log;
}
