import type { OpenFiles } from '../../tools/sqlite/open-files.ts';
import type { NewEventRow } from '../new-event-row.ts';

/** A request of the log to its writer thread. The reply to appends has an answer for each, that to others has none. */
export type LogRequest =
  | { readonly kind: 'appends'; readonly appends: readonly AppendRequest[] }
  | { readonly kind: 'open' | 'probe' | 'close' };

export type LogReply = readonly AppendAnswer[];

export type AppendRequest = {
  readonly stream: string;
  /** -1 for a stream that must not exist */
  readonly expected: number;
  readonly rows: readonly NewEventRow[];
};

export type AppendAnswer =
  /** `repeated`: the log has the events already, maybe with other contents under the same ids */
  | { readonly kind: 'appended' | 'repeated'; readonly revision: number; readonly position: number }
  /** `actual` is -1 when there is no such stream */
  | { readonly kind: 'refused'; readonly actual: number };

export type WriterData = {
  readonly file: string;
  /** The files of the log, which another thread has opened before: only these are written to. */
  open?: OpenFiles | undefined;
};

/** Maximum number of appends in a transaction. It limits how long the first appends of a burst wait for the last ones. */
export const LARGEST_BATCH = 1_000;
