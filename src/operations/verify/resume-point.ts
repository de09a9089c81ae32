import { pluralize } from '../../domain/description.ts';
import type { RecordedEvent } from '../../event-log/event-log.ts';
import { coveredEvent } from '../../modules/anchors/merkle-leaf.ts';
import { MerkleTree } from '../../modules/anchors/merkle-tree.ts';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { ignoreNotWritable, unlessMissing } from '../../tools/files/access.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import { parseJson } from '../../tools/parse-json.ts';
import type { LogCheck } from './log-pass.ts';

/** Version of the file. Version 1 omitted findings beyond the report's limit from `again`. */
const VERSION = 2;

/** Progress of an interrupted verification. */
export type Interrupted = {
  readonly version: typeof VERSION;
  /** RFC 3339. */
  readonly begunAt: string;
  /** Number of events from the first on for which everything was checked. */
  readonly events: number;
  /** Root of the Merkle tree over them, which ties the state to this log. */
  readonly root: string;
  /** Objects and streams among them that must be checked again, because there were findings. */
  readonly again: readonly string[];
};

/** The first events of the log are not those that the interrupted run has read. */
class LogChanged extends errorsOfCode('LOG_CHANGED') {}

export type Intervals = {
  /** Milliseconds between two writes of the file. */
  readonly saveEvery: number;
  /** Events between two positions that may be saved. */
  readonly markEvery: number;
};

const INTERVALS: Intervals = { saveEvery: 2000, markEvery: 500 };

/**
 * Stores in a file up to which event everything is checked, so that an interrupted verification can continue there. The
 * log itself is read from its beginning each time, which proves that it is still the same.
 */
export class ResumePoint implements LogCheck {
  readonly #file: string | undefined;
  readonly #before: Interrupted | undefined;
  readonly #intervals: Intervals;
  readonly #againFromBefore: ReadonlySet<string>;
  readonly #begunAt: string;
  readonly #tree = new MerkleTree();
  /** Events that work is still running for, in their order, each with the number of its jobs. */
  readonly #held = new Map<number, number>();
  readonly #again: Set<string>;
  #marks: { readonly events: number; readonly root: string }[] = [];
  #isWhole = true;
  #brokeOff = false;
  #saveError: string | undefined;
  #savedAt = clock.monotonic();

  /** Without a file, nothing is stored. `before` is the state to continue from. */
  constructor(file: string | undefined, before?: Interrupted, paces = INTERVALS) {
    this.#file = file;
    this.#before = before;
    this.#intervals = paces;
    this.#againFromBefore = new Set(before?.again);
    this.#begunAt = before?.begunAt ?? clock.date().toISOString();
    this.#again = new Set(before?.again);
  }

  /** Reads the state of an interrupted run; `undefined` without one. */
  static async interrupted(file: string): Promise<Interrupted | undefined> {
    const text = await files.readFile(file, 'utf8').catch(unlessMissing(''));
    const found = parseJson(text) as Interrupted | null | undefined;
    return found?.version === VERSION ? found : undefined; // written here, whole
  }

  /** Whether nothing but such a state is lost if the file is replaced and removed. Empty ones may be left by power cuts. */
  static async mayReplace(file: string): Promise<boolean> {
    const found = files.statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return true;
    return found.isFile() && (found.size === 0 || isState(await files.readFile(file, 'utf8')));
  }

  /** Whether the interrupted run has proven this object or stream, which the event needs. */
  isProven(what: string, number: number): boolean {
    return number <= (this.#before?.events ?? 0) && !this.#againFromBefore.has(what);
  }

  /** Marks the event as having work in progress, until the returned function is called. */
  hold(number: number): () => void {
    this.#held.set(number, (this.#held.get(number) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(number) ?? 1) - 1;
      if (left > 0) this.#held.set(number, left);
      else this.#held.delete(number);
    };
  }

  /** Records an object or a stream with a finding, which the next run must check again. */
  doAgain(what: string): void {
    this.#again.add(what);
  }

  /** Saves the progress. It must run after the checks that hold events. */
  async see(event: RecordedEvent, number: number): Promise<void> {
    if (this.#file === undefined) return;
    this.#tree.append(coveredEvent(event));
    if (number === this.#before?.events && this.#tree.root() !== this.#before.root) {
      throw new LogChanged(
        `The first ${pluralize(number, 'event')} are not those that the interrupted run of ${this.#begunAt} has read. Run it without --resume.`,
      );
    }
    if (number % this.#intervals.markEvery === 0 && this.#isWhole) {
      this.#marks.push({ events: number, root: this.#tree.root() });
    }
    if (this.#saveError === undefined && clock.monotonic() - this.#savedAt > this.#intervals.saveEvery)
      await this.#save(this.#file, number);
  }

  miss(): void {
    this.#isWhole = false;
  }

  end(whole: boolean): void {
    this.#brokeOff = !whole;
    const { events } = this.#before ?? { events: 0 };
    if (!whole || this.#tree.size >= events) return;
    throw new LogChanged(
      `The log holds ${pluralize(this.#tree.size, 'event')}, fewer than the ${events.toLocaleString('en')} that the interrupted run of ${this.#begunAt} has read. Run it without --resume.`,
    );
  }

  /** Removes the file once the verification is complete. Keeps it if the log could not be read to its end. */
  async done(): Promise<void> {
    if (this.#file === undefined || this.#saveError !== undefined || this.#brokeOff) return;
    await files.rm(this.#file, { force: true }).catch(ignoreNotWritable); // then another user owns it
  }

  get saveError(): string | undefined {
    return this.#saveError;
  }

  async #save(file: string, number: number): Promise<void> {
    this.#savedAt = clock.monotonic();
    const [oldest = number + 1] = this.#held.keys();
    const reached = this.#marks.findLast(({ events }) => events < oldest);
    if (reached === undefined || reached.events <= (this.#before?.events ?? 0)) return;
    this.#marks = this.#marks.filter(({ events }) => events >= reached.events);
    const state: Interrupted = {
      version: VERSION,
      begunAt: this.#begunAt,
      ...reached,
      again: [...this.#again],
    };
    try {
      await writeFileAtomic(file, JSON.stringify(state));
    } catch (error) {
      this.#saveError = (error as Error).message;
    }
  }
}

/** Whether the text is a state, of any version. */
function isState(text: string): boolean {
  const { version, begunAt } = Object(parseJson(text)) as { version?: unknown; begunAt?: unknown };
  return typeof version === 'number' && typeof begunAt === 'string';
}
