import path from 'node:path';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import type { Position } from '../event-log.ts';
import { CRASHES_BEFORE_ISOLATION } from './deliveries.ts';
import { uncaughtExceptionCount } from './uncaught-exception-count.ts';

type Counts = {
  readonly running: boolean;
  readonly deaths: number;
  readonly handedOut: { readonly [position: Position]: number };
};

/**
 * Counts how often the process crashed while events of a group were in flight, and how often each of those events was
 * started since then. The counts are stored in a file. It is written at the start and at the end, and for an event only
 * when the event must be processed exclusively.
 */
export class CrashCounter implements AsyncDisposable {
  readonly #file: string;
  /** The last event that can have been in flight at the last crash. */
  readonly #end: Position | undefined;
  readonly #handedOut: Map<Position, number>;
  /** Events counted since the start that are still in flight. */
  readonly #inFlight = new Set<Position>();
  readonly #uncaughtBefore = uncaughtExceptionCount();
  #crashes: number;
  #running = true;
  #saving: Promise<void> = Promise.resolve();

  /**
   * Opens the counts of a group, which is done up to `position` in a log that ends at `head`. The folder must exist.
   */
  static async open(
    folder: string,
    group: string,
    { position, head }: { readonly position: Position | undefined; readonly head: Position | undefined },
  ): Promise<CrashCounter> {
    const file = path.join(folder, `${group}.deaths.json`);
    const noneInFlight = head === undefined || (position !== undefined && position >= head);
    const last = noneInFlight
      ? NONE
      : await files
          .readFile(file, 'utf8')
          .then(countsIn)
          .catch(() => NONE); // missing or corrupt
    const deaths = new CrashCounter(file, head, last);
    await deaths.#save();
    return deaths;
  }

  private constructor(file: string, end: Position | undefined, { running, deaths, handedOut }: Counts) {
    this.#file = file;
    this.#end = end;
    this.#crashes = running ? deaths + 1 : deaths;
    this.#handedOut = new Map(Object.entries(handedOut));
  }

  /** Implements {@link Delivery.begin}: resolves when the count is on disk. */
  async begin(position: Position, how: 'alone' | 'beside others'): Promise<number | undefined> {
    if (!this.#isSuspect(position)) return 1;
    if (how !== 'alone') return undefined;
    const before = this.#handedOut.get(position) ?? 0;
    const count = this.#inFlight.has(position) ? before : before + 1; // after a failure it begins again, uncounted
    this.#handedOut.set(position, count);
    this.#inFlight.add(position);
    await this.#save();
    return count;
  }

  /** Whether the event was started exclusively and is still in flight. */
  isCounted(position: Position): boolean {
    return this.#inFlight.has(position);
  }

  async completed(position: Position): Promise<void> {
    this.#handedOut.delete(position);
    if (this.#inFlight.delete(position)) await this.#save();
  }

  /**
   * Resets the crash count once the group is done up to the last event that can have been in flight at the last crash.
   */
  clearIfPassed(position: Position | undefined): void {
    if (this.#crashes === 0 || position === undefined || this.#end === undefined || position < this.#end)
      return;
    this.#crashes = 0;
    this.#handedOut.clear();
    void this.#save();
  }

  /**
   * Uncounts the events in flight, since an orderly stop aborts them. Not so if an uncaught exception has ended the
   * process.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (uncaughtExceptionCount() !== this.#uncaughtBefore) return;
    this.#running = false;
    for (const position of this.#inFlight)
      this.#handedOut.set(position, (this.#handedOut.get(position) ?? 1) - 1);
    await this.#save();
  }

  /** Whether the event must run exclusively: otherwise a crash could not be attributed to one of several events. */
  #isSuspect(position: Position): boolean {
    return this.#crashes >= CRASHES_BEFORE_ISOLATION && this.#end !== undefined && position <= this.#end;
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write()).catch(() => undefined); // without a save the start is only not counted
    return this.#saving;
  }

  async #write(): Promise<void> {
    const [running, deaths] = [this.#running, this.#crashes];
    if (!running && deaths === 0) return files.rm(this.#file, { force: true });
    const counts: Counts = { running, deaths, handedOut: Object.fromEntries(this.#handedOut) };
    await writeFileAtomic(this.#file, JSON.stringify(counts));
  }
}

const NONE: Counts = { running: false, deaths: 0, handedOut: {} };

function countsIn(text: string): Counts {
  const { running, deaths, handedOut } = JSON.parse(text) as { readonly [key in keyof Counts]?: unknown };
  return {
    running: running === true,
    deaths: countOf(deaths),
    handedOut: Object.fromEntries(
      Object.entries(handedOut ?? {}).map(([position, count]) => [position, countOf(count)]),
    ),
  };
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Number(value) : 0;
}
