import type { AdminCommands } from '../../deposits/admin-commands.ts';
import { readState } from '../../deposits/command-handler.ts';
import { deposits } from '../../domain/aggregates.ts';
import { Refusal } from '../../domain/decider.ts';
import type { Command } from '../../domain/deposit/commands.ts';
import { DepositRefusal } from '../../domain/deposit/errors.ts';
import { type EventLog, EventLogUnavailable } from '../../event-log/event-log.ts';
import { parkedEvents } from '../../reactors/parking.ts';
import { DEPOSIT_REACTORS } from '../../reactors/reactor-names.ts';
import { messageOf } from '../../tools/coded-error.ts';

/** The event that starts a deposit again, and the number of the check or load. */
export type Retried = {
  readonly event: 'ChecksRetried' | 'LoadingRetried' | 'ParkedRetried';
  readonly attempt: number;
};

/**
 * Starts a deposit again. A rejected one is checked again with `recheck`; `check` requires that it is rejected.
 * @throws {Refusal} it is not in a status that can be retried.
 */
type Retry = (depositId: number, how: 'retry' | 'recheck' | 'check') => Promise<Retried>;

/** Returns the function that starts deposits again for an operator: each by the command that fits its status. */
export async function depositRetries(log: EventLog, administration: AdminCommands): Promise<Retry> {
  const parked = (await Promise.all(DEPOSIT_REACTORS.map((reactor) => parkedEvents(log, reactor)))).flat();
  const unreadable = new Map(parked.filter(({ object }) => object).map((event) => [event.stream, event]));
  return async (depositId, how) => {
    const { state } = await readState(log, deposits, depositId);
    const event = unreadable.get(`${deposits.prefix}${depositId}`);
    if (event && 'unreadable' in state) {
      const { reactor, eventId } = event;
      await administration.parking({ type: 'RetryParked', reactor, eventId });
      return { event: 'ParkedRetried', attempt: state.unreadable.attempt };
    }
    return await administration.retry(depositId, commandFor(depositId, state.status, how));
  };
}

/**
 * Returns why a deposit was not retried: for any error other than a refusal, a message that names the deposit.
 * @throws {EventLogUnavailable} the error concerns all deposits.
 */
export function whyNotRetried(depositId: number, error: unknown): Pick<Refusal, 'code' | 'message'> {
  if (error instanceof Refusal) return error;
  if (error instanceof EventLogUnavailable) throw error;
  const { code = 'UNEXPECTED' } = Object(error) as { readonly code?: string };
  return { code, message: `Deposit ${depositId} was not retried: ${messageOf(error)}` };
}

/** Returns the command for the status of the deposit; the rules refuse one that is not possible. */
function commandFor(
  depositId: number,
  status: string,
  how: 'retry' | 'recheck' | 'check',
): Command<'RetryChecks' | 'RetryLoading'> {
  const isToLoad = status === 'verified' || status === 'loading' || status === 'failed';
  if (how === 'check' || status === 'deposited') return { type: 'RetryChecks', depositId };
  if (how === 'recheck' && !isToLoad) return { type: 'RetryChecks', depositId };
  if (status !== 'rejected') return { type: 'RetryLoading', depositId };
  const text = `Deposit ${depositId} is rejected: give --recheck to have it checked again.`;
  throw new DepositRefusal('DEPOSIT_NOT_FAILED', text);
}
