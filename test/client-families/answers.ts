import type { ExecutionContext } from 'ava';
import { APP, child, parsedBody } from '../../testing/documents/parsed-body.ts';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { until } from '../../testing/processes/until.ts';
import { type Account, basic } from './account.ts';
import { readUnprefixed } from './swh-deposit.ts';

export function answered(t: ExecutionContext, answer: RawAnswer, status: number): RawAnswer {
  t.is(answer.status, status, `${answer.head}\n${answer.body}`);
  return answer;
}

/** Polls the status until it is final. */
export async function becomesDone(t: ExecutionContext, ask: () => Promise<RawAnswer>): Promise<void> {
  let status = '';
  await until(async () => {
    const { body } = await ask();
    status = readUnprefixed(body)['deposit_status'] ?? '';
    return ['done', 'rejected', 'failed', ''].includes(status);
  });
  t.is(status, 'done');
}

/** Resolves to the files of a deposit, in upload order. */
export async function filesOf(account: Account, edit: string): Promise<string[]> {
  const headers = { authorization: basic(account), accept: 'application/json' };
  const answer = await fetch(edit, { headers });
  const { archives } = (await answer.json()) as { archives: { filename: string }[] };
  return archives.map(({ filename }) => filename);
}

export function linkOf(body: string, rel: string): string {
  const link = parsedBody(body).children.find((one) => one.attributes['rel'] === rel);
  return link?.attributes['href'] ?? '';
}

/** Returns the single collection of a service document. */
export function collectionOf(body: string): string {
  const workspace = child(parsedBody(body), `${APP}workspace`);
  return child(workspace, `${APP}collection`).attributes['href'] ?? '';
}
