import type { DepositRow } from './deposit-list.ts';

/** The data of the overview. A depositor gets only what concerns their own deposits. */
export type OverviewData = {
  readonly counts: Readonly<Record<string, number>>;
  /** The deposits that changed last. */
  readonly recent: readonly DepositRow[];
  readonly service: {
    /** Numbers of deposits that have waited too long for a reactor, by status, and since when they have not changed. */
    readonly stuck: { readonly counts: Readonly<Record<string, number>>; readonly until: string };
    /** The deposits that were rejected in the last days, from a date on. */
    readonly rejected: { readonly count: number; readonly since: string };
    /** Events that wait for an operator. */
    readonly parked: number;
    /** The views that lag behind the log, for 30 seconds or more. */
    readonly views: { readonly events: number; readonly seconds: number } | null;
    /** The reason why the views do not advance at the moment. */
    readonly problem: string | null;
  } | null;
};
