import { DepositRefusal } from './errors.ts';
import type { Deposit } from './state.ts';

/** An id is used once. */
export function assertAbsent(depositId: number, deposit: Deposit): void {
  if (deposit.status === 'absent') return;
  throw new DepositRefusal('DEPOSIT_EXISTS', `Deposit ${depositId} already exists.`);
}

type Absent = { status: 'absent' | 'deleted' };

/** Refuses a deposit that was never created. A deleted deposit does not exist for any client either. */
export function assertExists(
  depositId: number,
  deposit: Deposit,
): asserts deposit is Exclude<Deposit, Absent> {
  if (deposit.status === 'absent' || deposit.status === 'deleted') {
    throw new DepositRefusal('DEPOSIT_NOT_FOUND', `Deposit ${depositId} not found.`);
  }
}

/** Refuses to change a deposit that is complete: interface.md, Life of a deposit. */
export function assertPartial(
  depositId: number,
  deposit: Deposit,
): asserts deposit is Deposit & { status: 'partial' } {
  assertExists(depositId, deposit);
  if (deposit.status === 'partial') return;
  const text = `Deposit ${depositId} is ${deposit.status}: archives and metadata can be changed only while it is partial.`;
  throw new DepositRefusal('DEPOSIT_NOT_PARTIAL', text);
}
