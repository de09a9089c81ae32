import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answerTo, type Call, faultOf } from '../../tools/concurrency/worker-client.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { SqliteAppends } from './appends.ts';
import {
  type AppendRequest,
  LARGEST_BATCH,
  type LogReply,
  type LogRequest,
  type WriterData,
} from './log-writer-messages.ts';

/** The appends that one call requests. */
type Appends = { readonly call: number; readonly appends: readonly AppendRequest[] };

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
    const [waiting, others]: [Appends[], Call<LogRequest>[]] = [[], []];
    for (const call of calls) {
      if (call.request.kind === 'appends') waiting.push({ call: call.call, appends: call.request.appends });
      else others.push(call);
    }
    while (waiting.length > 0) this.#write(nextBatch(waiting));
    for (const call of others) this.#port.send([answerTo(call, () => this.#do(call.request.kind))]);
  }

  #write(calls: readonly Appends[]): void {
    try {
      const answers = this.#using((open) => open.commit(calls.flatMap(({ appends }) => appends)));
      let end = 0;
      const replies = calls.map(({ call, appends }) => {
        const start = end;
        end += appends.length;
        return { call, reply: answers.slice(start, end) };
      });
      this.#port.send(replies);
      if (answers.some(({ kind }) => kind === 'appended')) this.#open?.recordHead();
    } catch (error) {
      this.#port.send(calls.map(({ call }) => ({ call, fault: faultOf(error) })));
    }
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

/** Removes and returns the first calls that may share a transaction. */
function nextBatch(waiting: Appends[]): Appends[] {
  let [count, appends] = [0, 0];
  for (const call of waiting) {
    appends += call.appends.length;
    if (count > 0 && appends > LARGEST_BATCH) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
