import { changeDeposit } from './change.ts';
import type { ClientWrite, DepositParts, Written } from './client-write.ts';

/** Completes a partial deposit. One that is already completed stays as it is. */
export function completeDeposit(
  parts: DepositParts,
  depositId: number,
  write: ClientWrite,
): Promise<Written> {
  return changeDeposit(parts, depositId, write, (_content, now) => ({
    type: 'CompleteDeposit',
    depositId,
    now,
  }));
}
