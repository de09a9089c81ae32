import { DatabaseSync } from 'node:sqlite';
import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { assertWritable } from '../../tools/sqlite/assert-writable.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import { addLookups } from './view-schema.ts';
import { ViewStatements } from './view-statements.ts';
import type { ViewFileUse, ViewJob } from './view-writer-messages.ts';

/**
 * Pages of a WAL file at which the thread moves them to the file. They are few while requests are served, so that the
 * main thread finds fewer than its own limit; they are many while a file is built, which takes less time.
 */
const CHECKPOINT_PAGES: Readonly<Record<ViewFileUse, number>> = { served: 2000, built: 16_000 };

/** Writes a view file in a thread of its own: runs one job after the other and answers each. */
export class ViewJobs {
  readonly #port: ThreadPort<Call<ViewJob>, readonly Answer<void>[]>;
  readonly #use: ViewFileUse;
  #opened: { readonly database: DatabaseSync; readonly writes: ViewStatements } | undefined;

  constructor(port: ThreadPort<Call<ViewJob>, readonly Answer<void>[]>, use: ViewFileUse) {
    this.#port = port;
    this.#use = use;
  }

  run(): void {
    this.#port.onMessage((call) => this.#port.send([answerTo(call, () => this.#do(call.request))]));
  }

  #do(job: ViewJob): void {
    if (job.kind === 'close') return this.#opened?.database.close();
    this.#opened ??= open(job.file, CHECKPOINT_PAGES[this.#use]);
    const { database, writes } = this.#opened;
    if (job.kind === 'write') readTwice(database, () => writes.write(job.changes));
    else addLookups(database, job.schemas);
  }
}

function open(file: string, checkpointPages: number) {
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    database.exec(
      `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA threads = 1`,
    );
    assertWritable(database, 'about');
    return { database, writes: new ViewStatements(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}
