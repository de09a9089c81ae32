import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { assertWritable } from '../../tools/sqlite/assert-writable.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import { openedToWrite } from '../../tools/sqlite/writing.ts';
import type { ViewSchema } from '../projection.ts';
import { changeWriter, type ViewChanges } from './change-writer.ts';
import { addLookups } from './view-schema.ts';

/** A job for the worker thread that writes a view file. */
export type ViewJob =
  | { readonly kind: 'write'; readonly file: string; readonly changes: ViewChanges }
  | { readonly kind: 'add-lookups'; readonly file: string; readonly schemas: readonly ViewSchema[] }
  | { readonly kind: 'close' };

/** Names the use of a file that is written. */
export type ViewFileUse = 'served' | 'built';

/**
 * Pages of a WAL file at which the thread moves them to the file. They are few while requests are served, so that the
 * main thread finds fewer than its own limit; they are many while a file is built, which takes less time.
 */
const CHECKPOINT_PAGES: Readonly<Record<ViewFileUse, number>> = { served: 2000, built: 16_000 };

/** Runs the thread that writes a view file: one job after the other, each with an answer. */
export function runViewJobs(
  port: ThreadPort<Call<ViewJob>, readonly Answer<void>[]>,
  use: ViewFileUse,
): void {
  let opened: ReturnType<typeof open> | undefined;
  port.onMessage((call) => port.send([answerTo(call, () => run(call.request))]));

  function run(job: ViewJob): void {
    if (job.kind === 'close') return opened?.database.close();
    opened ??= open(job.file, CHECKPOINT_PAGES[use]);
    const { database, write } = opened;
    if (job.kind === 'write') readTwice(database, () => write(job.changes));
    else addLookups(database, job.schemas);
  }
}

function open(file: string, checkpointPages: number) {
  return openedToWrite(file, 5000, (database) => {
    database.exec(
      `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA threads = 1`,
    );
    assertWritable(database, 'about');
    return { database, write: changeWriter(database) };
  });
}
