import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answersTo, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import { assertInPlace, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { SqliteAppends } from './appends.ts';
import { LARGEST_BATCH, type LogReply, type LogRequest, type WriterData } from './log-writer-messages.ts';

type Appends = Extract<LogRequest, { readonly kind: 'appends' }>;

/**
 * Runs the writer thread: the only code of a process that writes to the log, and that blocks on its syncs. All appends
 * that arrive while one transaction is synced share the next one.
 */
export function runLogWriter(
  port: ThreadPort<Call<LogRequest>, readonly Answer<LogReply>[]>,
  { file, open: openFiles }: WriterData,
): void {
  let files = openFiles;
  let open: SqliteAppends | undefined;
  port.onMessage((call) => receive([call, ...port.arrived()]));

  function receive(calls: readonly Call<LogRequest>[]): void {
    const waiting = calls.filter(isOfAppends);
    while (waiting.length > 0) write(nextBatch(waiting));
    for (const call of calls) {
      if (!isOfAppends(call)) port.send([answerTo(call, () => run(call.request.kind))]);
    }
  }

  function write(calls: readonly Call<Appends>[]): void {
    const commit = () => whileOpen((appends) => appends.commit(calls.map(({ request }) => request.appends)));
    const answers = answersTo<LogReply>(calls, commit);
    port.send(answers);
    const hasAppended = (reply: LogReply): boolean => reply.some(({ kind }) => kind === 'appended');
    if (answers.some((answer) => 'reply' in answer && hasAppended(answer.reply))) afterCommit();
  }

  /** The commit has been answered. If the file cannot be written, opening it again for the next call says why. */
  function afterCommit(): void {
    try {
      open?.recordHead();
      open?.assertMoves();
    } catch {
      closeConnection();
    }
  }

  function run(kind: LogRequest['kind']): LogReply {
    if (kind === 'close') close();
    else whileOpen((appends) => kind === 'probe' && appends.probe());
    return [];
  }

  /** Runs work on the connection. Closes it after an error, since its cached state may be wrong; the next call opens another. */
  function whileOpen<Result>(work: (appends: SqliteAppends) => Result): Result {
    try {
      const result = work(connection());
      assertFilesInPlace();
      return result;
    } catch (error) {
      closeConnection();
      throw error;
    }
  }

  function connection(): SqliteAppends {
    assertFilesInPlace(); // above all before it is opened again, which would create a missing file
    if (open) return open;
    open = new SqliteAppends(file);
    open.repairHead();
    files ??= openFilesOf(file);
    return open;
  }

  function assertFilesInPlace(): void {
    if (files) assertInPlace(files);
  }

  function close(): void {
    try {
      assertFilesInPlace(); // the log that took their place must not get their record
      open?.checkpoint();
    } catch {
      // The WAL stays and is read at the next start.
    }
    closeConnection();
  }

  function closeConnection(): void {
    const closing = open;
    open = undefined;
    try {
      closing?.close();
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
