import { AsyncLocalStorage } from 'node:async_hooks';
import { type OutsideWorld, runInWorld } from '../../src/tools/outside-world.ts';
import type { Task } from './task-queue.ts';

export type Role = 'http' | 'reactors' | 'operator';

/** A simulated machine: its clock, its disk and the process that runs on it. */
export class Host {
  readonly name: string;
  readonly role: Role;
  /** Milliseconds by which its wall clock is ahead of the world's. */
  clockOffset = 0;
  /** Virtual time until which its processes are stopped, as by SIGSTOP. */
  pausedUntil = 0;
  /** Tasks that came up during a pause, in order. */
  backlog: Task[] = [];
  /** Files by path: they outlive processes. */
  readonly disk = new Map<string, unknown>();
  /** The process that was started last. */
  process: Incarnation | undefined;

  constructor(name: string, role: Role) {
    this.name = name;
    this.role = role;
  }
}

/** One life of a process on a host. Its tasks are dropped once it is dead. */
export class Incarnation {
  readonly host: Host;
  isAlive = true;
  /** Its views have caught up: it serves requests. */
  isReady = false;
  /** Its connections are closed: what it has sent, and has not arrived, never does. */
  isGone = false;
  outsideWorld: Partial<OutsideWorld> = {};
  /** The call it made or completed last, such as `append sent`. */
  lastCall = 'start';

  constructor(host: Host) {
    this.host = host;
  }

  get name(): string {
    return this.host.name;
  }
}

const processes = new AsyncLocalStorage<Incarnation | undefined>();

/** Knows the process whose code runs at the moment; `undefined` is the environment. */
export const running = {
  getStore: (): Incarnation | undefined => processes.getStore(),
  run<Result>(process: Incarnation | undefined, work: () => Result): Result {
    return processes.run(process, () => runInWorld(process?.outsideWorld ?? {}, work));
  },
};
