import path from 'node:path';
import { replaceFile } from '../replace-file.ts';
import { clock } from '../tools/clock.ts';
import { files } from '../tools/files.ts';
import { type EventLog, isInLog, type Position, type RecordedEvent, type SeenEvent } from './event-log.ts';

const SAVE_INTERVAL = 1000;

/** How far a group is, and which events are under way at that: kept in a file. */
export class CatchUpCheckpoint implements AsyncDisposable {
  readonly #file: string;
  readonly #underWay: Map<Position, string | null>; // when each happened, in the order in which they came
  /** What was handed out before the last save. */
  #savedLast: Position | undefined;
  #position: Position | undefined;
  #last: Position | undefined;
  /** The last event that was handed out. */
  #seen: SeenEvent | undefined;
  #saved = '';
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /**
   * Opens how far the group was when that was last saved. A position beyond the head is of another log and does not
   * count, nor does one of a log that has another event where the group saw its last one, as after a restore.
   */
  static async open(
    folder: string,
    group: string,
    log: Pick<EventLog, 'head' | 'readStream'>,
  ): Promise<CatchUpCheckpoint> {
    const file = path.join(folder, `${group}.json`);
    const saved = await files.readFile(file, 'utf8').then(savedIn).catch(never); // none, or damaged
    return new CatchUpCheckpoint(file, (await isOf(log, saved)) ? saved : never());
  }

  private constructor(file: string, { position, last, seen, underWay }: Saved) {
    this.#file = file;
    this.#seen = seen;
    this.#position = position;
    this.#last = last;
    this.#savedLast = last;
    this.#underWay = underWay;
  }

  /** Everything up to here is done with. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Everything up to here was handed out, or is none of the group's. */
  get last(): Position | undefined {
    return this.#last;
  }

  /**
   * Goes back to the last event that was handed out, which is known to be in this log. Other events may have been
   * appended behind it after a restore, also before the position that the group had passed.
   */
  resumeBehindSeen(): void {
    if (this.#seen === undefined) return;
    this.#last = earlier(this.#last, this.#seen.position);
    this.#position = earlier(this.#position, this.#seen.position);
    this.#savedLast = this.#last;
  }

  /** How many events are under way, and when the one that came first happened. */
  get underWay(): { readonly count: number; readonly oldest: string | undefined } {
    const [oldest] = this.#underWay.values();
    return { count: this.#underWay.size, oldest: oldest ?? undefined };
  }

  /** Before the last save: also behind what was under way then. To be asked before it is handed out. */
  isDone({ position }: RecordedEvent): boolean {
    const wasHandedOut = this.#savedLast !== undefined && position <= this.#savedLast;
    return wasHandedOut && !this.#underWay.has(position);
  }

  /** An event is handed out; what is returned tells that it is done with. */
  begin({ id, stream, revision, position, metadata }: RecordedEvent): () => void {
    const occurredAt = metadata['occurredAt'];
    if (this.#seen === undefined || this.#seen.position < position)
      this.#seen = { id, stream, revision, position };
    this.#underWay.set(position, typeof occurredAt === 'string' ? occurredAt : null);
    if (this.#last === undefined || this.#last < position) this.#last = position;
    return () => {
      this.#underWay.delete(position);
      this.#move(position);
    };
  }

  /** Nothing up to here concerns the group but what is under way. */
  passed(position: Position | undefined): void {
    if (position === undefined) return;
    this.#last = position;
    this.#move(position);
  }

  /** Now, and not within a second. */
  async save(): Promise<void> {
    clock.clearTimeout(this.#timer);
    await this.#save();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.save();
  }

  #move(done: Position): void {
    const [oldest] = this.#underWay.keys();
    if (oldest === undefined) this.#position = this.#last;
    else if (done < oldest) this.#position = done;
    this.#timer ??= clock.setTimeout(() => void this.#save(), SAVE_INTERVAL).unref();
  }

  #save(): Promise<void> {
    this.#timer = undefined;
    this.#saving = this.#saving.then(async () => {
      const text = textOf({
        position: this.#position,
        last: this.#last,
        seen: this.#seen,
        underWay: this.#underWay,
      });
      if (text === this.#saved) return;
      await replaceFile(this.#file, text);
      this.#saved = text;
    });
    this.#saving = this.#saving.catch(() => undefined); // a checkpoint not saved only repeats work
    return this.#saving;
  }
}

/** `last` is where what was handed out ends; what is under way tells when it happened. */
type Saved = {
  readonly position: Position | undefined;
  readonly last: Position | undefined;
  readonly seen: SeenEvent | undefined;
  readonly underWay: Map<Position, string | null>;
};

function never(): Saved {
  return { position: undefined, last: undefined, seen: undefined, underWay: new Map() };
}

function earlier(position: Position | undefined, limit: Position): Position | undefined {
  return position === undefined || position < limit ? position : limit;
}

function textOf({ underWay, ...reached }: Saved): string {
  return JSON.stringify({ ...reached, underWay: [...underWay] });
}

async function isOf(log: Pick<EventLog, 'head' | 'readStream'>, { last, seen }: Saved): Promise<boolean> {
  const head = await log.head();
  if (typeof last !== 'string' || head === undefined || last > head) return false;
  return seen === undefined || (await isInLog(log, seen));
}

/** Earlier releases saved the position alone, then also what was under way, but not which event was seen. */
function savedIn(text: string): Saved {
  const { position, last = position, seen, underWay } = JSON.parse(text);
  return { position, last, seen, underWay: new Map(underWay) };
}
