import type { DepositStatusView } from '../projections/deposit-status.ts';
import type { ViewFile } from '../src/read-models/view-file.ts';

export type AbandonedDeposit = Pick<DepositStatusView, 'depositId' | 'revision' | 'updatedAt'>;

const PAGE = 500;

/**
 * The partial deposits that were last changed before a time, the oldest first, as one moment has them. All are read
 * before anything is done about them: as long as a moment is looked at, a service cannot reset the WAL of the view.
 */
export function abandonedDeposits(
  view: Pick<ViewFile, 'find' | 'snapshot'>,
  changedBefore: string,
): AbandonedDeposit[] {
  using _moment = view.snapshot();
  const query = { equal: { status: 'partial' }, orderBy: 'updatedAt', limit: PAGE };
  const abandoned: AbandonedDeposit[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = view.find({ ...query, offset }) as DepositStatusView[]; // it is the view of these
    for (const { depositId, revision, updatedAt } of page) {
      if (updatedAt >= changedBefore) return abandoned;
      abandoned.push({ depositId, revision, updatedAt });
    }
    if (page.length < PAGE) return abandoned;
  }
}
