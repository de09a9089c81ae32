import type { LogView } from '../storage/log-view.ts';

/** The log of the node that groups run on. */
export type GroupLog = {
  readonly view: LogView;
  /** Appends an event of the server's own. Resolves when it is committed, which may be never. */
  readonly write: (stream: string, type: string, json: string) => Promise<void>;
};

export type GroupOptions = {
  /** The time between two looks at time-outs and checkpoints, in milliseconds; 1000 on a real server. */
  readonly tickMs?: number;
  /** The time between an event that comes in and its push; as soon as the event loop allows, when left out. */
  readonly pushDelayMs?: number;
  /** Whether PINNED counts events that wait for a consumer that is full: since 24.10.14, 26.0.3, 26.1.0. */
  readonly countsSkipped?: boolean;
};
