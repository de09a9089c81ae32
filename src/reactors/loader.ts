import { failLoading, type LoadParts, loadDeposit, type ToLoad } from '../deposits/load.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { DepositReactor } from './deposit-reactor.ts';
import type { Reactor } from './reactor.ts';

/** Returns the reactor that loads each verified deposit. */
export function loader({ log, ...parts }: LoadParts & { readonly log: EventLog }): Reactor {
  return new DepositReactor<ToLoad>(log, {
    name: 'loader',
    work: 'load',
    causes: ['DepositVerified', 'LoadingRetried'],
    statuses: ['verified', 'loading'],
    attemptOf: ({ loadAttempt }) => loadAttempt,
    run: (deposit, record) => loadDeposit(parts, deposit, record),
    fail: (deposit, code, record) => {
      const text = `The deposit could not be loaded (${code}); the operator of the service has to repeat it`;
      return failLoading(deposit, 'LOADING_IMPOSSIBLE', text, record);
    },
  });
}
