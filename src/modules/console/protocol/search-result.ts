import type { DepositRow } from './deposit-list.ts';

/** The answer to a search: the kind of thing that the text names, and the deposits found. */
export type SearchResult = {
  readonly understoodAs:
    | 'deposit id'
    | 'UUID of a deposit'
    | 'SWHID'
    | 'SHA-256 of an archive'
    | 'origin'
    | 'client'
    | 'text';
  /** At most 20, the newest first. */
  readonly deposits: readonly DepositRow[];
  /** Query of the list that shows all of them. */
  readonly list: string | null;
};
