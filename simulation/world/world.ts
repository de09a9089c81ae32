import { type Host, type Incarnation, running } from './host.ts';
import { SeededRandom } from './seeded-random.ts';
import { stackOf } from './stack-of.ts';
import { type Task, TaskQueue } from './task-queue.ts';
import { TraceHash } from './trace-hash.ts';

/** The subject of a line of the trace. The story of a history leaves out `call` and `log`. */
export type NoteKind =
  | 'fault'
  | 'commit'
  | 'call'
  | 'group'
  | 'store'
  | 'client'
  | 'receiver'
  | 'node'
  | 'log'
  | 'violation';

export type Note = { readonly at: number; readonly kind: NoteKind; readonly text: string };

/** When a crash came relative to a call: after it was sent, after the server did it, or after its answer. */
export type CallMoment = 'sent' | 'done' | 'answered';

/** Calls after which a crash is placed and counted. */
export type CallName =
  | 'append'
  | 'read'
  | 'subscribe'
  | 'consume'
  | 'delivery'
  | 'ack'
  | 'put'
  | 'part'
  | 'complete'
  | 'get'
  | 'post'
  | 'view save'
  | 'log commit'
  | 'store commit'
  | 'file write'
  | 'file name'
  | 'file sync';

type CallListener = (incarnation: Incarnation, call: CallName, moment: CallMoment) => void;

/** RFC 3339 time at which every history begins. */
const BEGINNING = Date.parse('2026-01-01T00:00:00Z');

/** Virtual time and the queue of everything that is going to happen. Nothing in it depends on the real machine. */
export class World {
  /** Milliseconds since the beginning of the history. */
  now = 0;
  steps = 0;
  readonly seed: number;
  /** For everything that the code under test asks for: timers, ids, random numbers. */
  readonly codeRandom: SeededRandom;
  /** For latencies and losses. */
  readonly networkRandom: SeededRandom;
  readonly notes: Note[] | undefined;
  readonly unhandled: string[] = [];
  /** Makes texts of the trace equal on all machines. */
  neutral: (text: string) => string = (text) => text;
  readonly #queue = new TaskQueue();
  readonly #hash = new TraceHash();
  readonly #afterStep: (() => void)[] = [];
  readonly #callListeners = new Set<CallListener>();
  #numbers = 0;

  constructor(seed: number, { isTraced = false }: { readonly isTraced?: boolean } = {}) {
    this.seed = seed;
    this.codeRandom = new SeededRandom(seed, 'code');
    this.networkRandom = new SeededRandom(seed, 'network');
    this.notes = isTraced ? [] : undefined;
  }

  /** Returns the wall clock, in milliseconds, of the host of a process. */
  wallClock(process: Incarnation | undefined): number {
    return Math.floor(BEGINNING + this.now + (process?.host.clockOffset ?? 0));
  }

  /** Returns the hash of everything that has happened. */
  get hash(): string {
    return this.#hash.digest;
  }

  note(kind: NoteKind, noted: string): void {
    const text = this.neutral(noted);
    this.#hash.addText(text);
    this.notes?.push({ at: this.now, kind, text });
  }

  /** Reports a call of a process, after which faults may let it crash. */
  called(incarnation: Incarnation | undefined, call: CallName, moment: CallMoment): void {
    if (!incarnation?.isAlive) return;
    incarnation.lastCall = `${call} ${moment}`;
    for (const listener of this.#callListeners) listener(incarnation, call, moment);
  }

  /** Has a listener called at every call of a process. Returns a function that ends that. */
  onCall(listener: CallListener): () => void {
    this.#callListeners.add(listener);
    return () => this.#callListeners.delete(listener);
  }

  /** Runs `work` after `delay` milliseconds as the process, if it is alive then; `undefined` is the environment. */
  schedule(delay: number, incarnation: Incarnation | undefined, work: () => void): Task {
    const task = { time: this.now + delay, number: this.#numbers++, incarnation, work, isCancelled: false };
    this.#queue.push(task);
    return task;
  }

  /** Runs `work` when the current step is over. */
  afterStep(work: () => void): void {
    this.#afterStep.push(work);
  }

  /** Begins the next task. Returns false if the queue is empty. Its promises are settled in the microtasks that follow. */
  begin(): boolean {
    while (true) {
      const task = this.#queue.pop();
      if (!task) return false;
      if (task.isCancelled || task.incarnation?.isAlive === false) continue;
      if (this.#isPostponed(task)) continue;
      this.now = Math.max(this.now, task.time);
      this.steps += 1;
      if (task.incarnation) task.incarnation.host.steps += 1;
      this.#hash.addStep(task.number, this.now);
      try {
        running.run(task.incarnation, task.work);
      } catch (error) {
        this.unhandled.push(stackOf(error));
      }
      return true;
    }
  }

  /** Ends a step, once its microtasks have run. */
  end(): void {
    if (this.#afterStep.length === 0) return; // as after most steps
    for (const work of this.#afterStep.splice(0)) work();
  }

  /** Tasks of a paused host are run in order when the pause ends. */
  #isPostponed(task: Task): boolean {
    const host = task.incarnation?.host;
    if (!host || (host.pausedUntil <= task.time && host.backlog.length === 0)) return false;
    if (host.backlog.length === 0) this.#resumeLater(host);
    host.backlog.push(task);
    return true;
  }

  #resumeLater(host: Host): void {
    this.schedule(Math.max(0, host.pausedUntil - this.now), undefined, () => {
      if (host.pausedUntil > this.now) {
        this.#resumeLater(host);
        return;
      }
      for (const task of host.backlog.splice(0)) {
        task.time = this.now;
        task.number = this.#numbers++;
        this.#queue.push(task);
      }
    });
  }
}

let current: World | undefined;

/** Returns the world of the history that runs in this process; `undefined` between histories. */
export function currentWorld(): World | undefined {
  return current;
}

/** @throws {Error} no history runs. */
export function world(): World {
  if (!current) throw new Error('No history runs in this process.');
  return current;
}

export function setWorld(next: World | undefined): void {
  current = next;
}
