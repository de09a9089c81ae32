import { Worker } from 'node:worker_threads';
import { clock } from '../../tools/clock.ts';
import { assertInPlace, type OpenFiles, openFilesOf } from '../../tools/sqlite/open-files.ts';
import { workers } from '../../tools/workers.ts';
import { type Appended, EventLogUnavailable, type NewEvent, WrongExpectedRevision } from '../event-log.ts';
import { toExpected, toRows } from '../new-event-row.ts';
import { toPosition } from '../position.ts';
import type { AppendAnswer, AppendRequest, FromWriter, ToWriter, WriterData } from './log-writer-messages.ts';

/** The events of one append of a transaction; `position` and `revision` are of the last event. */
export type CommittedAppend = Pick<Waiting, 'stream' | 'events'> &
  Pick<AppendAnswer & { readonly kind: 'appended' }, 'revision' | 'position'>;

type Waiting = AppendRequest & {
  readonly events: readonly NewEvent[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
};

/** The client of the writer thread. All appends of one turn of the event loop are sent in one message. */
export class LogWriterClient {
  readonly #file: string;
  readonly #onCommit: (committed: readonly CommittedAppend[]) => void;
  /** In the order in which they are answered; the last `#unsent` have not been sent yet. */
  readonly #waiting: Waiting[] = [];
  #unsent = 0;
  #worker: Worker | undefined;
  #files: OpenFiles | undefined;
  #closing: Promise<void> | undefined;
  /** Why the last transaction failed. */
  #lastError: string | undefined;
  #probing: PromiseWithResolvers<void> | undefined;
  #transactions = 0;

  constructor(file: string, onCommit: (committed: readonly CommittedAppend[]) => void) {
    this.#file = file;
    this.#onCommit = onCommit;
  }

  /** Number of transactions answered so far; many appends share one. */
  get transactions(): number {
    return this.#transactions;
  }

  /** @throws {EventLogUnavailable} the file cannot be opened for writing */
  async open(): Promise<void> {
    const worker = this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<FromWriter>();
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new EventLogUnavailable('The writer thread of the event log ended at its start.')),
    );
    const first = await promise;
    if (first.kind === 'unopened') {
      await this.close();
      throw new EventLogUnavailable(`The event log ${this.#file} cannot be opened: ${first.reason}.`);
    }
    this.#files = openFilesOf(this.#file);
  }

  append(request: Omit<AppendRequest, 'rows'>, events: readonly NewEvent[]): Promise<Appended> {
    if (this.#closing)
      return Promise.reject(new EventLogUnavailable(`The event log ${this.#file} is closed.`));
    const { promise, resolve, reject } = Promise.withResolvers<Appended>();
    this.#waiting.push({ ...request, events, rows: toRows(events), resolve, reject });
    if (this.#unsent === 0) clock.setImmediate(() => this.#send());
    this.#unsent += 1;
    return promise;
  }

  /**
   * Asks the thread, if its last transaction failed or the files are no longer in place, whether one would succeed now.
   * @throws {EventLogUnavailable}
   */
  ready(): Promise<void> {
    if (this.#closing || (this.#lastError === undefined && this.#isInPlace())) return Promise.resolve();
    if (!this.#probing) {
      this.#probing = Promise.withResolvers();
      this.#post({ kind: 'probe' });
    }
    return this.#probing.promise;
  }

  /** Resolves when every append is answered and the thread has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#send();
    const worker = this.#worker;
    if (!worker) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#post({ kind: 'close' });
    await ended;
  }

  #start(): Worker {
    const entry = new URL('./log-writer-worker.ts', import.meta.url);
    const workerData: WriterData = { file: this.#file, open: this.#files };
    const worker = workers.start(entry, { name: 'event-log-writer', workerData });
    worker.on('message', (message: FromWriter) => this.#onMessage(message));
    worker.on('error', (error) => this.#lose(worker, String(error)));
    worker.on('exit', (code) => this.#lose(worker, `it ended with code ${code}`));
    this.#worker = worker;
    return worker;
  }

  #isInPlace(): boolean {
    try {
      if (this.#files) assertInPlace(this.#files);
      return true;
    } catch {
      return false;
    }
  }

  #send(): void {
    if (this.#unsent === 0) return;
    const appends = this.#waiting.slice(-this.#unsent);
    this.#unsent = 0;
    this.#post({
      kind: 'appends',
      appends: appends.map(({ stream, expected, rows }) => ({ stream, expected, rows })),
    });
  }

  #post(message: ToWriter): void {
    const worker = this.#worker ?? this.#start();
    worker.postMessage(message);
  }

  #onMessage(message: FromWriter): void {
    if (message.kind === 'answered') this.#answer(message.answers);
    if (message.kind === 'failed') this.#fail(message.count, message.reason);
    if (message.kind === 'probed') this.#endProbe(message.reason ?? undefined);
  }

  #endProbe(reason: string | undefined): void {
    this.#lastError = reason;
    if (reason === undefined) this.#probing?.resolve();
    else this.#probing?.reject(new EventLogUnavailable(`it cannot write: ${reason}.`));
    this.#probing = undefined;
  }

  #answer(answers: readonly AppendAnswer[]): void {
    this.#transactions += 1;
    this.#lastError = undefined;
    const asked = this.#waiting.splice(0, answers.length);
    const committed: CommittedAppend[] = [];
    for (const [index, answer] of answers.entries()) {
      const append = asked[index] as Waiting;
      settle(append, answer);
      if (answer.kind === 'appended')
        committed.push({ stream: append.stream, events: append.events, ...answer });
    }
    this.#onCommit(committed);
  }

  #fail(count: number, reason: string): void {
    this.#lastError = reason;
    for (const { reject } of this.#waiting.splice(0, count)) reject(this.#cannotWrite(reason));
  }

  #cannotWrite(reason: string): EventLogUnavailable {
    return new EventLogUnavailable(`The event log ${this.#file} could not write: ${reason}.`);
  }

  /** Fails all sent appends, which will never be answered; the next append starts another thread. */
  #lose(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const gone = `its writer thread has ended, ${reason}`;
    this.#fail(this.#waiting.length - this.#unsent, gone);
    this.#endProbe(gone);
  }
}

function settle({ stream, expected, resolve, reject }: Waiting, answer: AppendAnswer): void {
  if (answer.kind === 'appended') {
    resolve({ revision: answer.revision, position: toPosition(answer.position) });
  } else {
    reject(new WrongExpectedRevision(stream, toExpected(expected), toExpected(answer.actual)));
  }
}
