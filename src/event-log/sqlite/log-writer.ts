import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answersTo, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { SqliteAppends } from './appends.ts';
import { LARGEST_BATCH, type LogReply, type LogRequest, type WriterData } from './log-writer-messages.ts';

type Appends = Extract<LogRequest, { readonly kind: 'appends' }>;

/**
 * The program of the writer thread: the only code of a process that writes to the log, and that blocks on its syncs.
 * All appends that arrive while one transaction is synced share the next one.
 */
export class LogWriter {
  readonly #port: ThreadPort<Call<LogRequest>, readonly Answer<LogReply>[]>;
  readonly #file: string;
  #files: OpenFiles | undefined;
  #open: SqliteAppends | undefined;

  constructor(port: ThreadPort<Call<LogRequest>, readonly Answer<LogReply>[]>, { file, open }: WriterData) {
    this.#port = port;
    this.#file = file;
    this.#files = open;
  }

  run(): void {
    this.#port.onMessage((call) => this.#receive([call, ...this.#port.arrived()]));
  }

  #receive(calls: readonly Call<LogRequest>[]): void {
    const waiting = calls.filter(isOfAppends);
    while (waiting.length > 0) this.#write(nextBatch(waiting));
    for (const call of calls) {
      if (!isOfAppends(call)) this.#port.send([answerTo(call, () => this.#do(call.request.kind))]);
    }
  }

  #write(calls: readonly Call<Appends>[]): void {
    const commit = () => this.#using((open) => open.commit(calls.map(({ request }) => request.appends)));
    const answers = answersTo<LogReply>(calls, commit);
    this.#port.send(answers);
    const hasAppended = (reply: LogReply): boolean => reply.some(({ kind }) => kind === 'appended');
    if (answers.some((answer) => 'reply' in answer && hasAppended(answer.reply))) this.#open?.recordHead();
  }

  #do(kind: LogRequest['kind']): LogReply {
    if (kind === 'close') this.#close();
    else this.#using((open) => kind === 'probe' && open.probe());
    return [];
  }

  /** Uses the connection. Closes it after an error, since its cached state may be wrong; the next call opens another. */
  #using<Result>(work: (open: SqliteAppends) => Result): Result {
    try {
      const result = work(this.#connection());
      this.#assertInPlace();
      return result;
    } catch (error) {
      this.#closeConnection();
      throw error;
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

  #close(): void {
    try {
      this.#open?.checkpoint();
    } catch {
      // The WAL stays and is read at the next start.
    }
    this.#closeConnection();
  }

  #closeConnection(): void {
    const open = this.#open;
    this.#open = undefined;
    try {
      open?.close();
    } catch {
      // It is no longer used.
    }
  }
}

function isOfAppends(call: Call<LogRequest>): call is Call<Appends> {
  return call.request.kind === 'appends';
}

/** Removes and returns the first calls that may share a transaction. */
function nextBatch(waiting: Call<Appends>[]): Call<Appends>[] {
  let [count, appends] = [0, 0];
  for (const { request } of waiting) {
    appends += request.appends.length;
    if (count > 0 && appends > LARGEST_BATCH) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
