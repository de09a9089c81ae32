import { DatabaseSync } from 'node:sqlite';
import { extendedCode } from '../../tools/sqlite/codes.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import { threadPort } from '../../tools/thread-port.ts';
import { addLookups } from './view-schema.ts';
import { ViewStatements } from './view-statements.ts';
import type { ViewJob, ViewJobDone } from './view-writer.ts';

/* Entry point of the worker thread that writes a view file: runs one job after the other and answers each. */
const port = threadPort<ViewJob | 'close', ViewJobDone>();
let opened: { readonly database: DatabaseSync; readonly writes: ViewStatements } | undefined;

port.onMessage((job) => {
  if (job !== 'close') return port.send(answer(job));
  opened?.database.close();
  port.close();
});

function answer(job: ViewJob): ViewJobDone {
  try {
    opened ??= open(job.file);
    const { database, writes } = opened;
    if (job.kind === 'write') readTwice(database, () => writes.write(job.changes));
    else addLookups(database, job.schemas);
    return {};
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException; // only errors are thrown
    return { fault: { message, code, errcode: extendedCode(error) } };
  }
}

function open(file: string) {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000; PRAGMA threads = 1');
  return { database, writes: new ViewStatements(database) };
}
