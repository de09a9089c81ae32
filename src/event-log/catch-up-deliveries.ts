import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Deliveries, Delivery } from './deliveries.ts';
import type { EventLog, Position } from './event-log.ts';

const SAVE_INTERVAL = 1000;

/**
 * Deliveries of one process: a subscription from a checkpoint. The checkpoint is the position before the
 * oldest event not yet acknowledged, saved at most once a second; a lost or old one only makes events come again.
 */
export class CatchUpDeliveries implements Deliveries {
  readonly #log: EventLog;
  readonly #folder: string;

  /** Checkpoints are kept in `folder`, a file a group. */
  constructor(log: EventLog, folder: string) {
    this.#log = log;
    this.#folder = folder;
  }

  /** The embedded log is either there or the service is not. */
  trouble(): undefined {
    return undefined;
  }

  async *receive(group: string, streamPrefix: string, signal: AbortSignal): AsyncGenerator<Delivery> {
    await using checkpoint = await Checkpoint.open(
      path.join(this.#folder, `${group}.json`),
      await this.#log.head(),
    );
    const options = { after: checkpoint.position, streamPrefixes: [streamPrefix], signal };
    for await (const message of this.#log.subscribe(options)) {
      if (message.kind === 'caught-up') checkpoint.passed(message.position);
      else {
        for (const event of message.events) {
          const done = checkpoint.begin(event.position);
          yield { event, count: 1, acknowledge: async () => done() };
        }
      }
    }
  }
}

/** Which positions are under way, and the last one before them, kept in a file. */
class Checkpoint implements AsyncDisposable {
  readonly #file: string;
  readonly #underWay = new Set<Position>(); // in the order in which they came
  #position: Position | undefined;
  #last: Position | undefined;
  #saved: Position | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** A checkpoint beyond the head is of another log and does not count. */
  static async open(file: string, head: Position | undefined): Promise<Checkpoint> {
    await mkdir(path.dirname(file), { recursive: true });
    const saved = await readFile(file, 'utf8').then(positionIn, () => undefined);
    return new Checkpoint(
      file,
      saved !== undefined && head !== undefined && saved <= head ? saved : undefined,
    );
  }

  private constructor(file: string, position: Position | undefined) {
    this.#file = file;
    this.#position = position;
    this.#saved = position;
  }

  get position(): Position | undefined {
    return this.#position;
  }

  /** An event is handed out; what is returned tells that it is done with. */
  begin(position: Position): () => void {
    this.#underWay.add(position);
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

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#save();
  }

  #move(done: Position): void {
    const [oldest] = this.#underWay;
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

function positionIn(text: string): Position | undefined {
  try {
    const { position } = JSON.parse(text) as { position?: unknown };
    return typeof position === 'string' ? position : undefined;
  } catch {
    return undefined;
  }
}
