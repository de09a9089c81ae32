import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { faultOf } from './sqlite-fault.ts';
import { addLookups } from './view-schema.ts';
import type { ViewJob, ViewJobDone } from './view-writer.ts';
import { ViewWrites } from './view-writes.ts';

/* Writes files of views that another thread reads; one job after the other, an answer to each. */
if (!parentPort) throw new Error('view-writer-worker.ts runs as a worker thread only.');
const port = parentPort;

type Open = { readonly database: DatabaseSync; readonly writes: ViewWrites };
const files = new Map<string, Open>();

port.on('message', (job: ViewJob | 'close') => {
  if (job === 'close') return close();
  port.postMessage(done(job));
});

function done(job: ViewJob): ViewJobDone {
  try {
    const { database, writes } = opened(job.file);
    if (job.kind === 'write') writes.write(job.changes);
    else addLookups(database, job.shape);
    return {};
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

function opened(file: string): Open {
  const known = files.get(file);
  if (known) return known;
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
  const open = { database, writes: new ViewWrites(database) };
  files.set(file, open);
  return open;
}

function close(): void {
  for (const { database } of files.values()) database.close();
  port.close();
}
