import type { DepositSearchView } from '../../../../../projections/deposit-search.ts';

/** The summary of a deposit; `null` for a deposit that was deleted, which only its events still show. */
export type DepositSummary = {
  readonly depositId: number;
  readonly row: DepositSearchView | null;
  /** The qualified SWHID of a loaded deposit. */
  readonly context: string | null;
};
