import { clock } from '../../src/tools/clock.ts';
import {
  type DepositLinks,
  isFinal,
  readStatement,
  readStatus,
  type Status,
  unknownStatus,
} from '../documents/deposit-documents.ts';
import { UnreadableAnswer } from '../documents/xml-tree.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import type { Connection } from '../http/connection.ts';
import { secondsIn } from '../http/losses.ts';
import { Refused } from '../http/refused.ts';
import type { Session } from '../session.ts';
import { exitCodeOf, statusFacts, statusLines } from './format-status.ts';

/** Milliseconds before the first poll: most deposits are done sooner than servers ask clients to wait. */
const FIRST_POLL_MS = 300;
/** Seconds between two polls: the default, and the maximum. */
const [USUAL, LONGEST] = [2, 30];

/** A deposit, and where its status is. */
export type Asked = { readonly deposit: string; readonly links: Pick<DepositLinks, 'state' | 'statement'> };

/** Resolves to the current status or, with `wait`, the final one; on other servers, to the state in the Statement. */
export async function statusOf(
  asked: Asked,
  wait: boolean,
  { connection, output }: Session,
): Promise<Status> {
  if (wait) return finalStatus(connection, asked, (text) => output.note(text));
  return (await lookAt(connection, asked)).status;
}

/** Prints the status of a deposit; with `wait`, once it is final. Resolves to the exit code. */
export async function printDeposit(
  opened: Asked & Session,
  { wait = false }: { readonly wait?: boolean },
): Promise<number> {
  const status = await statusOf(opened, wait, opened);
  opened.output.result(statusFacts(status), ...statusLines(status));
  return exitCodeOf(status);
}

type Look = { readonly status: Status; readonly headers: Answer['headers'] };

async function lookAt(connection: Connection, { deposit, links }: Asked): Promise<Look> {
  const { state, statement } = links;
  if (state !== null) {
    try {
      const answer = await connection.get(state);
      return { status: readStatus(answer), headers: answer.headers };
    } catch (error) {
      // Elsewhere `alternate` is a page for people, which only a Statement makes likely.
      if (!isOfPage(error) || statement === null) throw error;
    }
  }
  if (statement === null) return { status: unknownStatus(deposit), headers: {} };
  const answer = await connection.get(statement, 'application/atom+xml;type=feed');
  return { status: readStatement(answer, deposit), headers: answer.headers };
}

/** Whether an address may be that of a page for people, which may have a login of its own. Other refusals are temporary. */
function isOfPage(error: unknown): boolean {
  if (!(error instanceof Refused)) return error instanceof UnreadableAnswer;
  const isRedirect = error.status >= 300 && error.status < 400;
  return isRedirect || [401, 403, 404, 405, 406, 410].includes(error.status);
}

/** Polls until the status is final. Calls `note` for each status before it. @throws {Fault} the deposit is partial. */
async function finalStatus(
  connection: Connection,
  asked: Asked,
  note: (text: string) => void,
): Promise<Status> {
  let last = '';
  for (let looks = 0; ; looks += 1) {
    const { status, headers } = await lookAt(connection, asked);
    if (isFinal(status)) return status;
    if (!status.isOfService) {
      note('The server does not say which states are final: showing the current one.');
      return status;
    }
    if (status.status === 'partial') throw stillPartial(status);
    if (status.status !== last) note(`Deposit ${status.deposit} is ${status.status}.`);
    last = status.status;
    await clock.sleep(looks === 0 ? FIRST_POLL_MS : secondsToWait(headers) * 1000);
  }
}

function secondsToWait(headers: Answer['headers']): number {
  if (headers['retry-after'] === undefined) return USUAL;
  return Math.min(Math.max(secondsIn(headers), 0.5), LONGEST);
}

function stillPartial({ deposit }: Status): Fault {
  const text = `Deposit ${deposit} is partial: it is not checked until you complete it with deposit complete ${deposit}.`;
  return new Fault(text);
}
