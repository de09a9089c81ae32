import { changeDeposit } from './change.ts';
import type { ClientWrite, DepositParts, Written } from './client-write.ts';

/** Deletes a partial deposit. Its events stay in the log. */
export function removeDeposit(parts: DepositParts, depositId: number, write: ClientWrite): Promise<Written> {
  const reason = 'Deleted by the client.';
  return changeDeposit(parts, depositId, write, () => ({ type: 'DeleteDeposit', depositId, reason }));
}
