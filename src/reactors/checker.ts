import { type CheckParts, checkDeposit } from '../deposits/check.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import { DepositReactor } from './deposit-reactor.ts';
import type { Reactor } from './reactor.ts';

/** Returns the reactor that checks each complete deposit. */
export function checker(parts: CheckParts): Reactor {
  return new DepositReactor<Extract<Deposit, { status: 'deposited' }>>(parts.log, {
    name: 'checker',
    work: 'check',
    causes: ['DepositCompleted', 'ChecksRetried'],
    statuses: ['deposited'],
    attemptOf: ({ checkAttempt }) => checkAttempt,
    run: (deposit, record) => checkDeposit(parts, deposit, record),
    fail: ({ depositId, checkAttempt: attempt }, code, record) => {
      const text = `The checks could not be carried out (${code}); the operator of the service has to repeat them`;
      const reasons = [{ code: 'CHECKS_IMPOSSIBLE', text, fields: ['archive'] }];
      return record({ type: 'RecordRejected', depositId, attempt, reasons, warnings: [] });
    },
  });
}
