import type { Incarnation } from './host.ts';

/** Something that happens at a virtual time. */
export type Task = {
  time: number;
  /** Orders tasks of the same time. */
  number: number;
  /** The process that runs it; `undefined` for the environment. */
  readonly incarnation: Incarnation | undefined;
  readonly work: () => void;
  isCancelled: boolean;
};

/** A binary heap of tasks, ordered by time, then by number. */
export class TaskQueue {
  readonly #heap: Task[] = [];

  push(task: Task): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(task);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isEarlier(task, heap[parent] as Task)) break;
      heap[index] = heap[parent] as Task;
      index = parent;
    }
    heap[index] = task;
  }

  /** Removes the first task; returns `undefined` if the queue is empty. */
  pop(): Task | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(task: Task): void {
    const heap = this.#heap;
    let index = 0;
    while (true) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isEarlier(heap[child + 1] as Task, heap[child] as Task)) child += 1;
      if (!isEarlier(heap[child] as Task, task)) break;
      heap[index] = heap[child] as Task;
      index = child;
    }
    heap[index] = task;
  }
}

function isEarlier(one: Task, other: Task): boolean {
  return one.time < other.time || (one.time === other.time && one.number < other.number);
}
