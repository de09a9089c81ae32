import type { DepositRow } from './deposit-list.ts';

/** Maximum number of deposits of an answer. */
export const MAX_FOUND = 20;

/** The answer to a search: the kind of thing that the text names, and the deposits found. */
export type SearchResult = {
  readonly understoodAs:
    | 'deposit id'
    | 'UUID of a deposit'
    | 'event id'
    | 'correlation id'
    | 'UUID'
    | 'SWHID'
    | 'id of an object'
    | 'digest of an archive'
    | 'origin'
    | 'client'
    | 'filters'
    | 'text';
  /** At most {@link MAX_FOUND}, the newest first. */
  readonly deposits: readonly DepositRow[];
  /** Number of the event of the first deposit that the text names. */
  readonly event: number | null;
  /** Path of the file or directory that a SWHID names, in the first deposit; percent-encoded as in a SWHID. */
  readonly path: string | null;
  /** Lines of the file that the SWHID names, such as `3-7`. */
  readonly lines: string | null;
  /** Says in a sentence what was not searched. */
  readonly limit: string | null;
  /** Query of the list that shows all of them. */
  readonly list: string | null;
};
