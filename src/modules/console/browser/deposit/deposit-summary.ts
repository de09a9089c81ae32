import type { DepositSearchView } from '../../../../../projections/deposit-search.ts';

/** The row of a deposit without its fields that are only searched. */
export type SummaryRow = Omit<DepositSearchView, 'labels' | 'ids' | 'words' | 'terms'>;

/** The summary of a deposit; `null` for a deposit that was deleted, which only its events still show. */
export type DepositSummary = {
  readonly depositId: number;
  readonly row: SummaryRow | null;
  /** The qualified SWHID of a loaded deposit. */
  readonly context: string | null;
};
