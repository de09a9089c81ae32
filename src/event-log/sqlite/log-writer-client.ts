import { clock } from '../../tools/clock.ts';
import { WorkerClient } from '../../tools/concurrency/worker-client.ts';
import { sqliteReason } from '../../tools/sqlite/codes.ts';
import { assertInPlace, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { type Appended, EventLogUnavailable, type NewEvent, WrongExpectedRevision } from '../event-log.ts';
import { toExpected, toRows } from '../new-event-row.ts';
import { toPosition } from '../position.ts';
import {
  type AppendAnswer,
  type AppendRequest,
  LARGEST_BATCH,
  type LogReply,
  type LogRequest,
  type WriterData,
} from './log-writer-messages.ts';

/**
 * Milliseconds without an answer to appends after which readiness waits for the next one. With the time limit of a
 * check, the syncs of a slow disk may take three seconds.
 */
const SLOW_MS = 1_000;

const PROGRAM = new URL('./log-writer-worker.ts', import.meta.url);

/** The events of one append of a transaction; `position` and `revision` are of the last event. */
export type CommittedAppend = Pick<Waiting, 'stream' | 'events'> &
  Pick<Exclude<AppendAnswer, { readonly kind: 'refused' }>, 'revision' | 'position'>;

type Waiting = AppendRequest & {
  readonly events: readonly NewEvent[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
};

/** The client of the writer thread. All appends of one turn of the event loop are sent in one message. */
export class LogWriterClient {
  readonly #data: WriterData;
  readonly #thread: WorkerClient<LogRequest, LogReply>;
  readonly #onCommit: (committed: readonly CommittedAppend[]) => void;
  #unsent: Waiting[] = [];
  #closing: Promise<void> | undefined;
  /** Whether the last transaction failed. */
  #hasFailed = false;
  #probing: Promise<unknown> | undefined;
  /** Batches without an answer; the thread answers them in order. */
  readonly #unanswered = new Set<Promise<void>>();
  /** When the thread last answered a batch, or got one while it had no other. */
  #silentSince = 0;

  constructor(file: string, onCommit: (committed: readonly CommittedAppend[]) => void) {
    this.#data = { file };
    const options = { name: 'event-log-writer', workerData: this.#data };
    this.#thread = new WorkerClient(PROGRAM, (cause) => cause, options);
    this.#onCommit = onCommit;
  }

  /** @throws {EventLogUnavailable} the file cannot be opened for writing */
  async open(): Promise<void> {
    const { file } = this.#data;
    try {
      await this.#thread.call({ kind: 'open' });
    } catch (error) {
      await this.close();
      throw unavailable(`The event log ${file} cannot be opened`, error);
    }
    this.#data.open = openFilesOf(file); // for a thread that replaces a crashed one
  }

  append(request: Omit<AppendRequest, 'rows'>, events: readonly NewEvent[]): Promise<Appended> {
    if (this.#closing)
      return Promise.reject(new EventLogUnavailable(`The event log ${this.#data.file} is closed.`));
    const { promise, resolve, reject } = Promise.withResolvers<Appended>();
    const waiting = { ...request, events, rows: toRows(events), resolve, reject };
    if (this.#unsent.push(waiting) === 1) clock.setImmediate(() => this.#send());
    return promise;
  }

  /**
   * Asks the thread whether a transaction would succeed now, if it has ended, its last one failed, or the files are no
   * longer in place. Waits for the thread if it is silent, as while a sync hangs.
   * @throws {EventLogUnavailable}
   */
  async ready(): Promise<void> {
    const [oldest] = this.#unanswered;
    if (oldest && clock.monotonic() - this.#silentSince > SLOW_MS) await oldest;
    const isProbed = this.#hasFailed || !this.#thread.isRunning || !this.#isInPlace();
    if (this.#closing || !isProbed) return;
    this.#probing ??= this.#thread.call({ kind: 'probe' }).finally(() => (this.#probing = undefined));
    try {
      await this.#probing;
      this.#hasFailed = false;
    } catch (error) {
      throw unavailable('it cannot write', error);
    }
  }

  /** Resolves when every append is answered and the thread has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#send();
    await this.#thread.closeBy({ kind: 'close' });
  }

  #isInPlace(): boolean {
    try {
      if (this.#data.open) assertInPlace(this.#data.open);
      return true;
    } catch {
      return false;
    }
  }

  #send(): void {
    while (this.#unsent.length > 0) {
      if (this.#unanswered.size === 0) this.#silentSince = clock.monotonic();
      const answered = this.#sendBatch(this.#unsent.splice(0, LARGEST_BATCH)).finally(() => {
        this.#unanswered.delete(answered);
        this.#silentSince = clock.monotonic();
      });
      this.#unanswered.add(answered);
    }
  }

  #sendBatch(batch: readonly Waiting[]): Promise<void> {
    const appends = batch.map(({ stream, expected, rows }) => ({ stream, expected, rows }));
    return this.#thread.call({ kind: 'appends', appends }).then(
      (answers) => this.#answer(batch, answers),
      (error: unknown) => this.#fail(batch, error),
    );
  }

  #answer(sent: readonly Waiting[], answers: LogReply): void {
    this.#hasFailed = false;
    const committed: CommittedAppend[] = [];
    for (const [index, answer] of answers.entries()) {
      const append = sent[index] as Waiting;
      settle(append, answer);
      if (answer.kind === 'appended')
        committed.push({ stream: append.stream, events: append.events, ...answer });
    }
    this.#onCommit(committed);
  }

  #fail(sent: readonly Waiting[], error: unknown): void {
    this.#hasFailed = true;
    for (const { reject } of sent)
      reject(unavailable(`The event log ${this.#data.file} could not write`, error));
  }
}

function settle({ stream, expected, resolve, reject }: Waiting, answer: AppendAnswer): void {
  if (answer.kind !== 'refused') {
    resolve({ revision: answer.revision, position: toPosition(answer.position) });
  } else {
    reject(new WrongExpectedRevision(stream, toExpected(expected), toExpected(answer.actual)));
  }
}

function unavailable(what: string, error: unknown): EventLogUnavailable {
  return new EventLogUnavailable(`${what}: ${sqliteReason(error)}.`);
}
