import { DatabaseSync } from 'node:sqlite';
import { readTwice } from '../tools/sqlite/found-twice.ts';
import type { ThreadPort } from '../tools/thread-port.ts';
import { faultOf } from './store/sqlite-errors.ts';
import { addLookups } from './store/view-schema.ts';
import { ViewStatements } from './store/view-statements.ts';
import type { ViewJob, ViewJobDone } from './store/view-writer.ts';

type Open = { readonly database: DatabaseSync; readonly writes: ViewStatements };

/** The program of the worker thread that writes view files: runs one job after the other and answers each. */
export class ViewJobs {
  readonly #port: ThreadPort<ViewJob | 'close', ViewJobDone>;
  readonly #files = new Map<string, Open>();

  constructor(port: ThreadPort<ViewJob | 'close', ViewJobDone>) {
    this.#port = port;
  }

  run(): void {
    this.#port.onMessage((job) => {
      if (job === 'close') this.#close();
      else this.#port.send(this.#do(job));
    });
  }

  #do(job: ViewJob): ViewJobDone {
    try {
      const { database, writes } = this.#opened(job.file);
      if (job.kind === 'write') readTwice(database, () => writes.write(job.changes));
      else addLookups(database, job.shape);
      return {};
    } catch (error) {
      return { fault: faultOf(error) };
    }
  }

  #opened(file: string): Open {
    const known = this.#files.get(file);
    if (known) return known;
    const database = new DatabaseSync(file, { timeout: 5000 });
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000');
    const open = { database, writes: new ViewStatements(database) };
    this.#files.set(file, open);
    return open;
  }

  #close(): void {
    for (const { database } of this.#files.values()) database.close();
    this.#port.close();
  }
}
