import { type DepositStatusView, depositStatus } from '../projections/deposit-status.ts';
import type { Config } from '../src/config/config.ts';
import { load } from '../src/deposits/command-handler.ts';
import { deposits } from '../src/domain/aggregates.ts';
import type { Deposit } from '../src/domain/deposit/state.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { AWAITED } from '../src/reactors/sweep/stuck-deposits.ts';
import { openView } from '../src/service/backends/open-backends.ts';
import { clock } from '../src/tools/clock.ts';
import { depositsOfView } from './deposits-of-view.ts';

/** Selection of the deposits to retry. `reason` is the code of a reason or fault. */
export type Wanted =
  | { readonly ids: readonly number[] }
  | { readonly status: 'failed' | 'rejected' | 'stuck' }
  | { readonly reason: string };

const WAITING = Object.keys(AWAITED);

/** Resolves to the ids of these deposits in ascending order, or in the order in which they were named. */
export async function depositsToRetry(
  config: Config,
  log: EventLog,
  wanted: Wanted,
): Promise<readonly number[]> {
  if ('ids' in wanted) return wanted.ids;
  if ('reason' in wanted) {
    const candidates = inStatuses(config, ['rejected', 'failed', ...WAITING]);
    const found = [];
    for (const { depositId } of candidates) {
      const { state } = await load(log, deposits, depositId);
      if (codesOf(state).includes(wanted.reason)) found.push(depositId);
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
