import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { type OutsideWorld, runInWorld } from '../../src/tools/outside-world.ts';
import type { SimulatedDisk } from '../disk/disk.ts';
import type { NodeRole } from '../plan/plan.ts';
import type { Task } from './task-queue.ts';

/** `operator`: a machine on which commands run. */
export type Role = NodeRole | 'operator';

/** A simulated machine: its clock, its disk and the process that runs on it. */
export class Host {
  readonly name: string;
  readonly role: Role;
  /** Milliseconds by which its wall clock is ahead of the world's. */
  clockOffset = 0;
  /** Virtual time from and until which its process was stopped last, as by SIGSTOP. */
  pausedFrom = 0;
  pausedUntil = 0;
  /** Steps that its processes have made. */
  steps = 0;
  /** Tasks that came up during a pause, in order. */
  backlog: Task[] = [];
  /** The disk: with everything of an embedded node, with the views of a node of a cluster. */
  storage: SimulatedDisk | undefined;
  /** The process that was started last. */
  process: Incarnation | undefined;

  constructor(name: string, role: Role) {
    this.name = name;
    this.role = role;
  }

  /** Stops its process, or has a pause last longer. */
  pause(from: number, until: number): void {
    if (this.pausedUntil <= from) this.pausedFrom = from;
    this.pausedUntil = Math.max(this.pausedUntil, until);
  }

  /** Has a new process, which no pause of the one before stops. */
  started(process: Incarnation): void {
    this.process = process;
    this.pausedUntil = 0;
    this.backlog = [];
  }

  /** Returns for how many of the milliseconds between two times its process was not stopped by the last pause. */
  ranFor(from: number, until: number): number {
    const pause = Math.min(until, this.pausedUntil) - Math.max(from, this.pausedFrom);
    return until - from - Math.max(0, pause);
  }
}

/** One life of a process on a host. Its tasks are dropped once it is dead. */
export class Incarnation {
  readonly host: Host;
  isAlive = true;
  /** Its views have caught up, and it is not being stopped: it accepts requests. */
  isReady = false;
  /** Its connections are closed: what it has sent, and has not arrived, never does. */
  isGone = false;
  outsideWorld: Partial<OutsideWorld> = {};
  /** The call it made or completed last, such as `append sent`. */
  lastCall = 'start';
  /** The context in which its code runs, once it has run. */
  context: AsyncResource | undefined;
  readonly #end = Promise.withResolvers<void>();

  constructor(host: Host) {
    this.host = host;
  }

  get name(): string {
    return this.host.name;
  }

  /** Resolves when it is dead. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  end(): void {
    this.isAlive = false;
    this.#end.resolve();
  }
}

const processes = new AsyncLocalStorage<Incarnation | undefined>();
const environment = new AsyncResource('environment');

/** Knows the process whose code runs at the moment; `undefined` is the environment. */
export const running = {
  getStore: (): Incarnation | undefined => processes.getStore(),
  run<Result>(process: Incarnation | undefined, work: () => Result): Result {
    return (process ? contextOf(process) : environment).runInAsyncScope(work);
  },
};

/** Returns the context of a process, made once: a step is hardly longer than the making of one. */
function contextOf(process: Incarnation): AsyncResource {
  process.context ??= processes.run(process, () =>
    runInWorld(process.outsideWorld, () => new AsyncResource('process')),
  );
  return process.context;
}
