import type { OpenFiles } from '../../tools/sqlite/open-files.ts';
import type { NewEventRow } from '../new-event-row.ts';

/** Messages between the log and its writer thread. Answers are in the order of the requests. */
export type ToWriter =
  | { readonly kind: 'appends'; readonly appends: readonly AppendRequest[] }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'opened' }
  | { readonly kind: 'unopened'; readonly reason: string }
  /** All answers of one transaction, after its commit. */
  | { readonly kind: 'answered'; readonly answers: readonly AppendAnswer[] }
  /** The engine failed; the next `count` appends failed, or their outcome is unknown. */
  | { readonly kind: 'failed'; readonly count: number; readonly reason: string }
  /** `null`: the log can write again. */
  | { readonly kind: 'probed'; readonly reason: string | null };

export type AppendRequest = {
  readonly stream: string;
  /** -1 for a stream that must not exist */
  readonly expected: number;
  readonly rows: readonly NewEventRow[];
};

export type AppendAnswer =
  | { readonly kind: 'appended'; readonly revision: number; readonly position: number }
  /** `actual` is -1 when there is no such stream */
  | { readonly kind: 'refused'; readonly actual: number };

export type WriterData = {
  readonly file: string;
  /** The files of the log, which another thread has opened before: only these are written to. */
  readonly open?: OpenFiles | undefined;
};
