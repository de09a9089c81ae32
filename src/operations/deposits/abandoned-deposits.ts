import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { StoredView } from '../../service/backends/open-view.ts';

export type AbandonedDeposit = Pick<DepositStatusView, 'depositId' | 'revision' | 'updatedAt'>;

const PAGE = 500;

/**
 * Returns the partial deposits last changed before a time, the oldest first. All are read at once: while a read
 * transaction is open, a service cannot reset the WAL of the view.
 */
export function abandonedDeposits(
  view: Pick<StoredView, 'find' | 'snapshot'>,
  changedBefore: string,
): AbandonedDeposit[] {
  using _moment = view.snapshot();
  const query = { equal: { status: 'partial' }, orderBy: 'updatedAt', limit: PAGE };
  const abandoned: AbandonedDeposit[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = view.find({ ...query, offset }) as DepositStatusView[]; // the view has these rows
    for (const { depositId, revision, updatedAt } of page) {
      if (updatedAt >= changedBefore) return abandoned;
      abandoned.push({ depositId, revision, updatedAt });
    }
    if (page.length < PAGE) return abandoned;
  }
}
