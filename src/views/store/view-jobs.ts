import { DatabaseSync } from 'node:sqlite';
import { extendedCode } from '../../tools/sqlite/codes.ts';
import { readTwice } from '../../tools/sqlite/found-twice.ts';
import type { ThreadPort } from '../../tools/thread-port.ts';
import type { ViewSchema } from '../projection.ts';
import { addLookups } from './view-schema.ts';
import { type ViewChanges, ViewStatements } from './view-statements.ts';

/** A job for the worker thread that writes a view file. */
export type ViewJob = { readonly file: string } & (
  | { readonly kind: 'write'; readonly changes: ViewChanges }
  | { readonly kind: 'add-lookups'; readonly schemas: readonly ViewSchema[] }
);

/** An error of SQLite in a form that can be sent between threads; cloning an Error retains only its message. */
export type ViewJobDone = {
  readonly fault?: {
    readonly message: string;
    readonly code: string | undefined;
    readonly errcode: number | undefined;
  };
};

/**
 * Pages of a WAL file at which the thread moves them to the file. They are few while requests are served, so that the main
 * thread finds fewer than its own limit; they are many while a file is built, which takes less time.
 */
const CHECKPOINT_PAGES = { served: 2000, built: 16_000 } as const;

/** Names the use of a file that is written. */
export type ViewFileUse = keyof typeof CHECKPOINT_PAGES;

/** Writes a view file in a thread of its own: runs one job after the other and answers each. */
export class ViewJobs {
  readonly #port: ThreadPort<ViewJob | 'close', ViewJobDone>;
  readonly #use: ViewFileUse;
  #opened: { readonly database: DatabaseSync; readonly writes: ViewStatements } | undefined;

  constructor(port: ThreadPort<ViewJob | 'close', ViewJobDone>, use: ViewFileUse) {
    this.#port = port;
    this.#use = use;
  }

  run(): void {
    this.#port.onMessage((job) => {
      if (job !== 'close') return this.#port.send(this.#done(job));
      this.#opened?.database.close();
      this.#port.close();
    });
  }

  #done(job: ViewJob): ViewJobDone {
    try {
      this.#opened ??= open(job.file, CHECKPOINT_PAGES[this.#use]);
      const { database, writes } = this.#opened;
      if (job.kind === 'write') readTwice(database, () => writes.write(job.changes));
      else addLookups(database, job.schemas);
      return {};
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException; // only errors are thrown
      return { fault: { message, code, errcode: extendedCode(error) } };
    }
  }
}

function open(file: string, checkpointPages: number) {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(
    `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA threads = 1`,
  );
  return { database, writes: new ViewStatements(database) };
}
