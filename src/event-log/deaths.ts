import path from 'node:path';
import { replaceFile } from '../replace-file.ts';
import { files } from '../tools/files.ts';
import { DEATHS_OF_CHANCE } from './deliveries.ts';
import type { Position } from './event-log.ts';
import { uncaughtExceptions } from './uncaught.ts';

type Counts = {
  readonly running: boolean;
  readonly deaths: number;
  readonly handedOut: { readonly [position: Position]: number };
};

/**
 * How often the process died while events of a group were under way, and how often each of those was begun
 * since then: kept in a file, which is written at the start and at the end, and for an event only when it has to be
 * begun alone.
 */
export class Deaths implements AsyncDisposable {
  readonly #file: string;
  /** The last event that can have been under way at the last death. */
  readonly #end: Position | undefined;
  readonly #handedOut: Map<Position, number>;
  /** Counted since the start, and neither outlived nor died of so far. */
  readonly #underWay = new Set<Position>();
  readonly #uncaughtBefore = uncaughtExceptions();
  #deaths: number;
  #running = true;
  #saving: Promise<void> = Promise.resolve();

  /** The group was done up to `position` where the log ends with `head`. The folder has to be there. */
  static async open(
    folder: string,
    group: string,
    { position, head }: { readonly position: Position | undefined; readonly head: Position | undefined },
  ): Promise<Deaths> {
    const file = path.join(folder, `${group}.deaths.json`);
    const nothingUnderWay = head === undefined || (position !== undefined && position >= head);
    const last = nothingUnderWay
      ? NONE
      : await files
          .readFile(file, 'utf8')
          .then(countsIn)
          .catch(() => NONE); // none, or damaged
    const deaths = new Deaths(file, head, last);
    await deaths.#save();
    return deaths;
  }

  private constructor(file: string, end: Position | undefined, { running, deaths, handedOut }: Counts) {
    this.#file = file;
    this.#end = end;
    this.#deaths = running ? deaths + 1 : deaths;
    this.#handedOut = new Map(Object.entries(handedOut));
  }

  /** {@link Delivery.begin}: resolves when a count is on disk. */
  async begin(position: Position, how: 'alone' | 'beside others'): Promise<number | undefined> {
    if (!this.#isSuspect(position)) return 1;
    if (how !== 'alone') return undefined;
    const count = (this.#handedOut.get(position) ?? 0) + 1;
    this.#handedOut.set(position, count);
    this.#underWay.add(position);
    await this.#save();
    return count;
  }

  /** Whether it was begun alone and is still under way. */
  isCounted(position: Position): boolean {
    return this.#underWay.has(position);
  }

  async outlived(position: Position): Promise<void> {
    this.#handedOut.delete(position);
    if (this.#underWay.delete(position)) await this.#save();
  }

  /** The group is done up to there: once that is all that was under way, the deaths are forgotten. */
  passed(position: Position | undefined): void {
    if (this.#deaths === 0 || position === undefined || this.#end === undefined || position < this.#end)
      return;
    this.#deaths = 0;
    this.#handedOut.clear();
    void this.#save();
  }

  /** What is still under way is cut off, which is no sign of a death: unless something nobody caught has ended the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (uncaughtExceptions() !== this.#uncaughtBefore) return;
    this.#running = false;
    for (const position of this.#underWay)
      this.#handedOut.set(position, (this.#handedOut.get(position) ?? 1) - 1);
    await this.#save();
  }

  /** Nothing else may be under way beside it: which of several the process died of nobody could tell. */
  #isSuspect(position: Position): boolean {
    return this.#deaths >= DEATHS_OF_CHANCE && this.#end !== undefined && position <= this.#end;
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write()).catch(() => undefined); // not saved, it is only not counted
    return this.#saving;
  }

  async #write(): Promise<void> {
    const [running, deaths] = [this.#running, this.#deaths];
    if (!running && deaths === 0) return files.rm(this.#file, { force: true });
    const counts: Counts = { running, deaths, handedOut: Object.fromEntries(this.#handedOut) };
    await replaceFile(this.#file, JSON.stringify(counts));
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
