import { clock } from '../../src/tools/clock.ts';
import { isFinal, readStatus, type Status } from '../documents/deposit-documents.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import type { Connection } from '../http/connection.ts';
import type { Session } from '../session.ts';

/** Milliseconds: most deposits are done in less than what servers ask to wait. */
const FIRST_LOOK = 300;
/** Seconds between two looks, where the server does not say, and at most. */
const [USUAL, LONGEST] = [2, 30];

export async function statusAt(connection: Connection, state: string): Promise<Status> {
  return readStatus(await connection.get(state));
}

/** As it is now or, with `wait`, once it is final. */
export function statusOf(state: string, wait: boolean, { connection, output }: Session): Promise<Status> {
  return wait ? finalStatus(connection, state, (text) => output.note(text)) : statusAt(connection, state);
}

/** The status once it is a final one. `note` is told of each that comes before it. @throws {Fault} it is partial. */
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
    await clock.sleep(looks === 0 ? FIRST_LOOK : secondsToWait(answer) * 1000);
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
