import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Position, RecordedEvent } from './event-log.ts';

const SAVE_INTERVAL = 1000;

/** Which events of a group are under way, and the last position before them, kept in a file. */
export class CatchUpCheckpoint implements AsyncDisposable {
  readonly #file: string;
  readonly #underWay = new Map<Position, string | undefined>(); // when each happened, in the order in which they came
  #position: Position | undefined;
  #last: Position | undefined;
  #saved: Position | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** Where the group was when it was last saved. */
  static async open(folder: string, group: string, head: Position | undefined): Promise<CatchUpCheckpoint> {
    await mkdir(folder, { recursive: true });
    return new CatchUpCheckpoint(fileOf(folder, group), await savedPosition(folder, group, head));
  }

  private constructor(file: string, position: Position | undefined) {
    this.#file = file;
    this.#position = position;
    this.#last = position;
    this.#saved = position;
  }

  /** Everything up to here is done with. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Everything up to here was handed out, or is none of the group's. */
  get last(): Position | undefined {
    return this.#last;
  }

  /** How many events are under way, and when the one that came first happened. */
  get underWay(): { readonly count: number; readonly oldest: string | undefined } {
    const [oldest] = this.#underWay.values();
    return { count: this.#underWay.size, oldest };
  }

  /** An event is handed out; what is returned tells that it is done with. */
  begin({ position, metadata }: RecordedEvent): () => void {
    const occurredAt = metadata['occurredAt'];
    this.#underWay.set(position, typeof occurredAt === 'string' ? occurredAt : undefined);
    this.#last = position;
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
    clearTimeout(this.#timer);
    await this.#save();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.save();
  }

  #move(done: Position): void {
    const [oldest] = this.#underWay.keys();
    if (oldest === undefined) this.#position = this.#last;
    else if (done < oldest) this.#position = done;
    this.#timer ??= setTimeout(() => void this.#save(), SAVE_INTERVAL).unref();
  }

  #save(): Promise<void> {
    this.#timer = undefined;
    this.#saving = this.#saving.then(async () => {
      const position = this.#position;
      if (position === this.#saved) return;
      await writeFile(`${this.#file}.new`, JSON.stringify({ position }));
      await rename(`${this.#file}.new`, this.#file);
      this.#saved = position;
    });
    this.#saving = this.#saving.catch(() => undefined); // a checkpoint not saved only repeats work
    return this.#saving;
  }
}

/**
 * Up to where a group was done when its checkpoint was last saved; `undefined` when it never was. A checkpoint
 * beyond the head is of another log and does not count.
 */
export async function savedPosition(
  folder: string,
  group: string,
  head: Position | undefined,
): Promise<Position | undefined> {
  const saved = await readFile(fileOf(folder, group), 'utf8').then(positionIn, () => undefined);
  return saved !== undefined && head !== undefined && saved <= head ? saved : undefined;
}

function positionIn(text: string): Position | undefined {
  try {
    const { position } = JSON.parse(text) as { position?: unknown };
    return typeof position === 'string' ? position : undefined;
  } catch {
    return undefined;
  }
}

function fileOf(folder: string, group: string): string {
  return path.join(folder, `${group}.json`);
}
