import { final, formType, helloForm } from './deposit-bodies.ts';
import type { TestClient } from './test-client.ts';

/** Makes a deposit of a form in the collection `software`. Resolves to its path, `/1/software/<id>/`. */
export async function makeDeposit(
  client: TestClient,
  headers: Readonly<Record<string, string>> = final,
  form: Buffer = helloForm,
): Promise<string> {
  const answer = await client.post('/1/software/', form, { ...formType, ...headers });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
  return pathOf(answer);
}

/** Makes the same deposit, and resolves to its path once it is done. */
export async function makeDoneDeposit(client: TestClient): Promise<string> {
  const path = await makeDeposit(client);
  await client.waitFor(`${path}status/`, 'done');
  return path;
}

/** Returns the id of the deposit whose Edit-IRI is the Location of an answer. */
export function depositIdOf(answer: Response): number {
  return Number(pathOf(answer).split('/').at(-2));
}

/** Returns the path of the deposit whose Edit-IRI is the Location of an answer, `/1/<collection>/<id>/`. */
export function pathOf({ headers }: Response): string {
  return new URL(headers.get('location') ?? '').pathname.replace(/metadata\/$/, '');
}
