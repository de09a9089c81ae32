import path from 'node:path';
import { clock } from '../../tools/clock.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import { type EventLog, isInLog, type Position, type RecordedEvent, type SeenEvent } from '../event-log.ts';

const SAVE_INTERVAL = 1000;

/** Stores the position of a group, and the events that are in flight beyond it, in a file. */
export class CatchUpPosition implements AsyncDisposable {
  readonly #file: string;
  readonly #inFlight: Map<Position, string | null>; // time of each event, in the order of delivery
  /** The value of `last` in the file when this process opened it. */
  #savedLast: Position | undefined;
  #position: Position | undefined;
  #last: Position | undefined;
  /** The last event that was delivered. */
  #seen: SeenEvent | undefined;
  #saved = '';
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /**
   * Opens the last saved state of the group. A position after the head belongs to another log and is ignored. So is one
   * whose last delivered event is not in this log, for example after a restore.
   */
  static async open(
    folder: string,
    group: string,
    log: Pick<EventLog, 'head' | 'readStream'>,
  ): Promise<CatchUpPosition> {
    const file = path.join(folder, `${group}.json`);
    const saved = await files.readFile(file, 'utf8').then(savedIn).catch(emptyState); // missing or corrupt
    return new CatchUpPosition(file, (await isOf(log, saved)) ? saved : emptyState());
  }

  private constructor(file: string, { position, last, seen, underWay }: Saved) {
    this.#file = file;
    this.#seen = seen;
    this.#position = position;
    this.#last = last;
    this.#savedLast = last;
    this.#inFlight = underWay;
  }

  /** All events up to this position are acknowledged. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** All events up to this position were delivered, or do not concern the group. */
  get last(): Position | undefined {
    return this.#last;
  }

  /**
   * Moves back to the last delivered event, which is known to be in this log. After a restore other events may have
   * been appended after it, also before the position that the group had reached.
   */
  rewindToLastDelivered(): void {
    if (this.#seen === undefined) return;
    this.#last = earlier(this.#last, this.#seen.position);
    this.#position = earlier(this.#position, this.#seen.position);
    this.#savedLast = this.#last;
  }

  /** Number of events in flight, and the time of the first of them. */
  get inFlight(): { readonly count: number; readonly oldest: string | undefined } {
    const [oldest] = this.#inFlight.values();
    return { count: this.#inFlight.size, oldest: oldest ?? undefined };
  }

  /**
   * Whether the event was acknowledged before the last save, even if earlier events were in flight then. Must be called
   * before the event is delivered.
   */
  isDone({ position }: RecordedEvent): boolean {
    const wasHandedOut = this.#savedLast !== undefined && position <= this.#savedLast;
    return wasHandedOut && !this.#inFlight.has(position);
  }

  /** Records that an event is delivered. Returns a function that records its acknowledgement. */
  begin(event: RecordedEvent): () => void {
    const { position, metadata } = event;
    const occurredAt = metadata['occurredAt'];
    this.#see(event);
    this.#inFlight.set(position, typeof occurredAt === 'string' ? occurredAt : null);
    return () => {
      this.#inFlight.delete(position);
      this.#move(position);
    };
  }

  /** Records that an event does not concern the group, even if it did when it was in flight before. */
  skip(event: RecordedEvent): void {
    this.#see(event);
    this.#inFlight.delete(event.position);
    this.#move(event.position);
  }

  /** Records that no event up to this position concerns the group, except those in flight. */
  moveTo(position: Position | undefined): void {
    if (position === undefined) return;
    this.#last = position;
    this.#move(position);
  }

  /** Saves at once, instead of within a second. */
  async save(): Promise<void> {
    clock.clearTimeout(this.#timer);
    await this.#save();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.save();
  }

  #see({ id, stream, revision, position }: RecordedEvent): void {
    if (this.#seen === undefined || this.#seen.position < position)
      this.#seen = { id, stream, revision, position };
    if (this.#last === undefined || this.#last < position) this.#last = position;
  }

  #move(done: Position): void {
    const [oldest] = this.#inFlight.keys();
    if (oldest === undefined) this.#position = this.#last;
    else if (done < oldest) this.#position = done;
    this.#timer ??= clock.setTimeout(() => void this.#save(), SAVE_INTERVAL).unref();
  }

  #save(): Promise<void> {
    this.#timer = undefined;
    this.#saving = this.#saving.then(async () => {
      const text = JSON.stringify({
        position: this.#position,
        last: this.#last,
        seen: this.#seen,
        underWay: [...this.#inFlight],
      });
      if (text === this.#saved) return;
      await writeFileAtomic(this.#file, text);
      this.#saved = text;
    });
    this.#saving = this.#saving.catch(() => undefined); // an unsaved position only repeats work
    return this.#saving;
  }
}

/** The contents of the file. `last` is the position delivered last; `underWay` has the time of each event in flight. */
type Saved = {
  readonly position: Position | undefined;
  readonly last: Position | undefined;
  readonly seen: SeenEvent | undefined;
  readonly underWay: Map<Position, string | null>;
};

function emptyState(): Saved {
  return { position: undefined, last: undefined, seen: undefined, underWay: new Map() };
}

function earlier(position: Position | undefined, limit: Position): Position | undefined {
  return position === undefined || position < limit ? position : limit;
}

async function isOf(log: Pick<EventLog, 'head' | 'readStream'>, { last, seen }: Saved): Promise<boolean> {
  const head = await log.head();
  if (typeof last !== 'string' || head === undefined || last > head) return false;
  return seen === undefined || (await isInLog(log, seen));
}

/**
 * Parses the file. Earlier releases saved only the position, then also the events in flight, but not the last delivered
 * event.
 */
function savedIn(text: string): Saved {
  const { position, last = position, seen, underWay } = JSON.parse(text);
  return { position, last, seen, underWay: new Map(underWay) };
}
