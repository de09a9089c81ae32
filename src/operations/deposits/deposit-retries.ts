import type { AdminCommands } from '../../deposits/admin-commands.ts';
import { load } from '../../deposits/command-handler.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { Command } from '../../domain/deposit/commands.ts';
import { DepositRefusal } from '../../domain/deposit/errors.ts';
import type { ParkedEvent } from '../../domain/parking/parking.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { parkedEvents } from '../../reactors/parking.ts';
import { REACTORS } from '../../reactors/reactor-names.ts';

/** The event that starts a deposit again, and the number of the check or load. */
export type Retried = {
  readonly event: 'ChecksRetried' | 'LoadingRetried' | 'ParkedRetried';
  readonly attempt: number;
};

/** Starts deposits again for an operator: each by the command that fits its status. */
export class DepositRetries {
  readonly #log: EventLog;
  readonly #administration: AdminCommands;
  /** Events that are parked because of an unreadable object, by the stream of their deposit. */
  readonly #parked: ReadonlyMap<string, ParkedEvent>;

  static async open(log: EventLog, administration: AdminCommands): Promise<DepositRetries> {
    const parked = (await Promise.all(REACTORS.map((reactor) => parkedEvents(log, reactor)))).flat();
    const unreadable = parked.filter(({ object }) => object);
    return new DepositRetries(log, administration, new Map(unreadable.map((event) => [event.stream, event])));
  }

  private constructor(
    log: EventLog,
    administration: AdminCommands,
    parked: ReadonlyMap<string, ParkedEvent>,
  ) {
    this.#log = log;
    this.#administration = administration;
    this.#parked = parked;
  }

  /**
   * Retries one deposit. A rejected one is checked again with `recheck`; `check` requires that it is rejected.
   * @throws {Refusal} it is not in a status that can be retried.
   */
  async retry(depositId: number, how: 'retry' | 'recheck' | 'check'): Promise<Retried> {
    const { state } = await load(this.#log, deposits, depositId);
    const parked = this.#parked.get(`${deposits.prefix}${depositId}`);
    if (parked && 'unreadable' in state) {
      const { reactor, eventId } = parked;
      await this.#administration.parking({ type: 'RetryParked', reactor, eventId });
      return { event: 'ParkedRetried', attempt: state.unreadable.attempt };
    }
    return await this.#administration.retry(depositId, commandFor(depositId, state.status, how));
  }
}

/** Returns the command for the status of the deposit; the rules refuse one that is not possible. */
function commandFor(
  depositId: number,
  status: string,
  how: 'retry' | 'recheck' | 'check',
): Command<'RetryChecks' | 'RetryLoading'> {
  if (how === 'check' || status === 'deposited') return { type: 'RetryChecks', depositId };
  if (status !== 'rejected') return { type: 'RetryLoading', depositId };
  if (how === 'recheck') return { type: 'RetryChecks', depositId };
  const text = `Deposit ${depositId} is rejected: give --recheck to have it checked again.`;
  throw new DepositRefusal('DEPOSIT_NOT_FAILED', text);
}
