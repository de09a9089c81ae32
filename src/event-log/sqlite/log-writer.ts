import { isDiskFullError } from '../../tools/sqlite/codes.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import type { ThreadPort } from '../../tools/thread-port.ts';
import { SqliteAppends } from './appends.ts';
import type { AppendAnswer, AppendRequest, FromWriter, ToWriter, WriterData } from './log-writer-messages.ts';

/**
 * Maximum number of appends in a transaction. It limits how long the first appends of a burst wait for the last ones.
 */
const LARGEST_BATCH = 1_000;

/**
 * The program of the writer thread: the only code of a process that writes to the log, and that blocks on its syncs.
 * All appends that arrive while one transaction is synced share the next one.
 */
export class LogWriter {
  readonly #port: ThreadPort<ToWriter, FromWriter>;
  readonly #file: string;
  #files: OpenFiles | undefined;
  #open: SqliteAppends | undefined;

  constructor(port: ThreadPort<ToWriter, FromWriter>, { file, open }: WriterData) {
    this.#port = port;
    this.#file = file;
    this.#files = open;
  }

  /** Opens the log, reports whether that succeeded, and handles messages from then on. */
  run(): void {
    try {
      this.#connection();
      this.#port.send({ kind: 'opened' });
    } catch (error) {
      this.#port.send({ kind: 'unopened', reason: reasonOf(error) });
    }
    this.#port.onMessage((message) => this.#receive([message, ...this.#port.arrived()]));
  }

  #receive(messages: readonly ToWriter[]): void {
    const appends = messages.flatMap((each) => (each.kind === 'appends' ? each.appends : []));
    for (let start = 0; start < appends.length; start += LARGEST_BATCH) {
      this.#write(appends.slice(start, start + LARGEST_BATCH));
    }
    if (messages.some(({ kind }) => kind === 'probe')) this.#probe();
    if (messages.some(({ kind }) => kind === 'close')) this.#close();
  }

  #write(appends: readonly AppendRequest[]): void {
    const answers = this.#committed(appends);
    if (!answers) return;
    this.#port.send({ kind: 'answered', answers });
    if (answers.some(({ kind }) => kind === 'appended')) this.#open?.recordHead();
  }

  #committed(appends: readonly AppendRequest[]): AppendAnswer[] | undefined {
    try {
      const connection = this.#connection();
      const answers = connection.commit(appends);
      this.#assertInPlace();
      return answers;
    } catch (error) {
      this.#port.send({ kind: 'failed', count: appends.length, reason: reasonOf(error) });
      this.#abandonConnection();
      return undefined;
    }
  }

  #probe(): void {
    try {
      this.#connection().probe();
      this.#port.send({ kind: 'probed', reason: null });
    } catch (error) {
      this.#port.send({ kind: 'probed', reason: reasonOf(error) });
      this.#abandonConnection();
    }
  }

  #connection(): SqliteAppends {
    this.#assertInPlace(); // above all before it is opened again, which would create a missing file
    if (this.#open) return this.#open;
    this.#open = new SqliteAppends(this.#file);
    this.#open.repairHead();
    this.#files ??= openFilesOf(this.#file);
    return this.#open;
  }

  #assertInPlace(): void {
    if (this.#files) assertInPlace(this.#files);
  }

  /** Closes the connection after an error, since its cached state may be wrong; the next batch opens another. */
  #abandonConnection(): void {
    const failed = this.#open;
    this.#open = undefined;
    try {
      failed?.close();
    } catch {
      // Its reason was sent already.
    }
  }

  #close(): void {
    try {
      this.#open?.checkpoint();
    } catch {
      // The WAL stays and is read at the next start.
    }
    this.#abandonConnection();
    this.#port.close();
  }
}

function reasonOf(error: unknown): string {
  if (isDiskFullError(error)) return 'its disk is full';
  return error instanceof Error ? error.message : String(error);
}
