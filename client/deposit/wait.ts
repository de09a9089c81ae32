import { clock } from '../../src/tools/clock.ts';
import { isFinal, readStatus, type Status } from '../documents/deposit-documents.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import type { Connection } from '../http/connection.ts';
import type { Session } from '../session.ts';

/** Milliseconds before the first poll: most deposits are done sooner than servers ask clients to wait. */
const FIRST_POLL_MS = 300;
/** Seconds between two polls: the default, and the maximum. */
const [USUAL, LONGEST] = [2, 30];

export async function statusAt(connection: Connection, state: string): Promise<Status> {
  return readStatus(await connection.get(state));
}

/** Returns the current status or, with `wait`, the final one. */
export function statusOf(state: string, wait: boolean, { connection, output }: Session): Promise<Status> {
  return wait ? finalStatus(connection, state, (text) => output.note(text)) : statusAt(connection, state);
}

/** Polls until the status is final. Calls `note` for each status before it. @throws {Fault} the deposit is partial. */
async function finalStatus(
  connection: Connection,
  state: string,
  note: (text: string) => void,
): Promise<Status> {
  let last = '';
  for (let looks = 0; ; looks += 1) {
    const answer = await connection.get(state);
    const status = readStatus(answer);
    if (isFinal(status)) return status;
    if (status.status === 'partial') throw stillPartial(status);
    if (status.status !== last) note(`Deposit ${status.deposit} is ${status.status}.`);
    last = status.status;
    await clock.sleep(looks === 0 ? FIRST_POLL_MS : secondsToWait(answer) * 1000);
  }
}

function secondsToWait({ headers }: Answer): number {
  const asked = Number(headers['retry-after'] ?? USUAL);
  return Math.min(Number.isFinite(asked) ? Math.max(asked, 0.5) : USUAL, LONGEST);
}

function stillPartial({ deposit }: Status): Fault {
  const text = `Deposit ${deposit} is partial: nothing happens to it until it is completed (deposit complete ${deposit}).`;
  return new Fault(text);
}
