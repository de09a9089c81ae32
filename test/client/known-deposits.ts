import {
  archiveHeaders,
  archivePart,
  entryPart,
  formOf,
  formType,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';

/** Resolves to the id of a deposit that is done. */
export async function depositDone(
  client: TestClient,
  archive = helloZip,
  filename = 'hello.zip',
): Promise<string> {
  const body = formOf([archivePart(archive, filename), entryPart()]);
  const id = await numberIn(await client.post('/1/software/', body, { ...formType }));
  await client.waitFor(`/1/software/${id}/status/`, 'done');
  return id;
}

/** Resolves to the id of a deposit that is partial. */
export async function depositBegun(client: TestClient): Promise<string> {
  return numberIn(await client.post('/1/software/', helloZip, { ...archiveHeaders(), ...partial }));
}

async function numberIn(answer: Response): Promise<string> {
  return /<deposit_id>(\d+)</.exec(await answer.text())?.[1] ?? '';
}
