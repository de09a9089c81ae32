import { coveredEvent } from '../anchors/covered-event.ts';
import { MerkleTree } from '../anchors/merkle-tree.ts';
import { counted } from '../domain/description.ts';
import { replaceFile } from '../replace-file.ts';
import { clock } from '../tools/clock.ts';
import { files } from '../tools/files.ts';
import type { Watcher } from './history.ts';

/** Of the file. In the first one those beyond the limit of what is told were not among `again`. */
const VERSION = 2;

/** How far an interrupted verification had come. */
export type Interrupted = {
  readonly version: typeof VERSION;
  /** RFC 3339. */
  readonly begunAt: string;
  /** Everything that the first so many events need was looked at. */
  readonly events: number;
  /** Root of the Merkle tree over them, so that the state is of this log only. */
  readonly root: string;
  /** Objects and streams among them that are to be looked at again: there were findings. */
  readonly again: readonly string[];
};

/** The first events of the log are not those that the interrupted run has read. */
export class LogChanged extends Error {
  override readonly name = 'LogChanged';
  readonly code = 'LOG_CHANGED';
}

export type Paces = {
  /** Milliseconds between two savings. */
  readonly saveEvery: number;
  /** Events between two places that may be saved. */
  readonly markEvery: number;
};

const PACES: Paces = { saveEvery: 2000, markEvery: 500 };

/**
 * Remembers in a file up to which event everything is looked at, so that an interrupted verification can go on
 * there. The log itself is read from its beginning each time: that is what shows that it is still the same.
 */
export class ResumePoint {
  readonly #file: string | undefined;
  readonly #before: Interrupted | undefined;
  readonly #paces: Paces;
  readonly #againFromBefore: ReadonlySet<string>;
  readonly #begunAt: string;
  readonly #tree = new MerkleTree();
  /** Events that something is still under way for, with how much, in their order. */
  readonly #held = new Map<number, number>();
  readonly #again: Set<string>;
  #marks: { readonly events: number; readonly root: string }[] = [];
  #isWhole = true;
  #brokeOff = false;
  #trouble: string | undefined;
  #savedAt = clock.monotonic();

  /** Without a file nothing is remembered. `before`: go on there. */
  constructor(file: string | undefined, before?: Interrupted, paces = PACES) {
    this.#file = file;
    this.#before = before;
    this.#paces = paces;
    this.#againFromBefore = new Set(before?.again);
    this.#begunAt = before?.begunAt ?? clock.date().toISOString();
    this.#again = new Set(before?.again);
  }

  /** What an interrupted run left; `undefined` when there is nothing. */
  static async interrupted(file: string): Promise<Interrupted | undefined> {
    try {
      const found = JSON.parse(await files.readFile(file, 'utf8')) as Interrupted | null;
      return found?.version === VERSION ? found : undefined; // written here, whole
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT')
        return undefined;
      throw error;
    }
  }

  /** Whether the interrupted run has proven this, an object or a stream, that the event needs. */
  isProven(what: string, number: number): boolean {
    return number <= (this.#before?.events ?? 0) && !this.#againFromBefore.has(what);
  }

  /** Something is under way for this event until what is returned is called. */
  hold(number: number): () => void {
    this.#held.set(number, (this.#held.get(number) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(number) ?? 1) - 1;
      if (left > 0) this.#held.set(number, left);
      else this.#held.delete(number);
    };
  }

  /** There was a finding: an object or a stream that is to be looked at again. */
  doAgain(what: string): void {
    this.#again.add(what);
  }

  /** To come after the watchers that hold events. */
  watcher(): Watcher {
    return {
      see: async (event, number) => {
        if (this.#file === undefined) return;
        this.#tree.append(coveredEvent(event));
        if (number === this.#before?.events && this.#tree.root() !== this.#before.root) {
          throw new LogChanged(
            `The first ${number} events are not those that the interrupted run of ${this.#begunAt} has read. Run it without --resume.`,
          );
        }
        if (number % this.#paces.markEvery === 0 && this.#isWhole) {
          this.#marks.push({ events: number, root: this.#tree.root() });
        }
        if (this.#trouble === undefined && clock.monotonic() - this.#savedAt > this.#paces.saveEvery)
          await this.#save(this.#file, number);
      },
      miss: () => {
        this.#isWhole = false;
      },
      end: (whole) => {
        this.#brokeOff = !whole;
        const { events } = this.#before ?? { events: 0 };
        if (!whole || this.#tree.size >= events) return;
        throw new LogChanged(
          `The log holds ${counted(this.#tree.size, 'event')}, fewer than the ${events} that the interrupted run of ${this.#begunAt} has read. Run it without --resume.`,
        );
      },
    };
  }

  /** All is done: nothing is left to resume, unless the log could not be read to its end. */
  async done(): Promise<void> {
    if (this.#file === undefined || this.#trouble !== undefined || this.#brokeOff) return;
    await files.rm(this.#file, { force: true }).catch(unlessNotAllowed); // then it is of somebody else
  }

  /** Why it cannot be remembered how far the verification is. */
  get trouble(): string | undefined {
    return this.#trouble;
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
      await replaceFile(file, JSON.stringify(state));
    } catch (error) {
      this.#trouble = (error as Error).message;
    }
  }
}

function unlessNotAllowed(error: NodeJS.ErrnoException): void {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '')) throw error;
}
