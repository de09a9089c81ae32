import { type DepositStatusView, depositStatus } from '../../../projections/deposit-status.ts';
import type { Config } from '../../config/config.ts';
import { readState } from '../../deposits/command-handler.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { Deposit } from '../../domain/deposit/state.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { AWAITED } from '../../reactors/reactor-names.ts';
import { openView } from '../../service/backends/open-view.ts';
import { clock } from '../../tools/clock.ts';
import { depositsOfView } from './deposits-of-view.ts';

/** Selection of the deposits to retry. `reason` is the code of a reason or fault. */
export type Wanted =
  | { readonly ids: readonly number[] }
  | { readonly status: 'failed' | 'rejected' | 'stuck' }
  | { readonly reason: string };

const WAITING = Object.keys(AWAITED);

/**
 * Resolves to the ids of these deposits in ascending order, or in the order in which they were named.
 * @param onError is called for a deposit whose reasons cannot be read.
 */
export async function depositsToRetry(
  config: Config,
  log: EventLog,
  wanted: Wanted,
  onError: (depositId: number, error: unknown) => void,
): Promise<readonly number[]> {
  if ('ids' in wanted) return wanted.ids;
  if ('reason' in wanted) {
    const candidates = inStatuses(config, ['rejected', 'failed', ...WAITING]);
    const found = [];
    for (const { depositId } of candidates) {
      try {
        const { state } = await readState(log, deposits, depositId);
        if (codesOf(state).includes(wanted.reason)) found.push(depositId);
      } catch (error) {
        onError(depositId, error);
      }
    }
    return found;
  }
  if (wanted.status !== 'stuck') return inStatuses(config, [wanted.status]).map(({ depositId }) => depositId);
  const limit = new Date(clock.now() - config.stuckAfter).toISOString();
  const stuck = inStatuses(config, WAITING).filter(({ updatedAt }) => updatedAt <= limit);
  return stuck.map(({ depositId }) => depositId);
}

function inStatuses(config: Config, statuses: readonly string[]): readonly DepositStatusView[] {
  using view = openView(config, depositStatus);
  return statuses
    .flatMap((status) => [...depositsOfView<DepositStatusView>(view, { equal: { status } })])
    .sort((a, b) => a.depositId - b.depositId);
}

/** Returns the codes of the reasons for which a deposit does not continue. */
function codesOf(deposit: Deposit): readonly string[] {
  if (deposit.status === 'rejected') return deposit.reasons.map(({ code }) => code);
  if (deposit.status === 'failed') return [deposit.reason.code];
  return 'unreadable' in deposit ? [deposit.unreadable.code] : [];
}
