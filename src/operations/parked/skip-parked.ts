import type { AdminCommands } from '../../deposits/admin-commands.ts';
import { readState } from '../../deposits/command-handler.ts';
import { depositOfStream, deposits } from '../../domain/aggregates.ts';
import type { Reason } from '../../domain/deposit/events.ts';
import { type ParkedEvent, ParkingRefusal } from '../../domain/parking/parking.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { awaitedEvent } from '../../reactors/sweep/stuck-deposits.ts';

/**
 * Skips a parked event for good. A deposit that waits for it ends first: without its checks it is rejected, without its
 * loading it fails. Resolves to the id and the new status of that deposit.
 * @throws {ParkingRefusal} the event is not parked; the message says whether the deposit has ended all the same.
 */
export async function skipParked(
  log: EventLog,
  administration: AdminCommands,
  { reactor, eventId, stream }: Pick<ParkedEvent, 'reactor' | 'eventId' | 'stream'>,
  reason: string,
): Promise<{ readonly depositId: number; readonly status: string } | undefined> {
  const depositId = depositOfStream(stream) ?? 0;
  const awaited = depositId > 0 ? await awaitedEvent(log, depositId) : undefined;
  const waits = awaited?.reactor === reactor && awaited.event.id === eventId;
  if (waits) await endDeposit(log, administration, depositId, reason);
  const ended = waits
    ? { depositId, status: (await readState(log, deposits, depositId)).state.status }
    : undefined;
  try {
    await administration.parking({ type: 'SkipParked', reactor, eventId, reason });
  } catch (error) {
    if (!ended || !(error instanceof ParkingRefusal)) throw error;
    throw new ParkingRefusal(error.code, `Deposit ${depositId} is ${ended.status}. ${error.message}`);
  }
  return ended;
}

async function endDeposit(
  log: EventLog,
  administration: AdminCommands,
  depositId: number,
  why: string,
): Promise<void> {
  const { state } = await readState(log, deposits, depositId);
  if (state.status === 'deposited') {
    const { checkAttempt: attempt } = state;
    const reasons = [skipped(`The checks were skipped by the operator: ${why}`)];
    await administration.deposit(depositId, {
      type: 'RecordRejected',
      depositId,
      attempt,
      reasons,
      warnings: [],
    });
  } else if (state.status === 'verified' || state.status === 'loading') {
    const { loadAttempt: attempt } = state;
    const reason = skipped(`The loading was skipped by the operator: ${why}`);
    await administration.deposit(depositId, { type: 'StartLoading', depositId, attempt });
    await administration.deposit(depositId, { type: 'RecordLoadingFailed', depositId, attempt, reason });
  }
}

function skipped(text: string): Reason {
  return { code: 'SKIPPED_BY_OPERATOR', text, fields: ['archive'] };
}
