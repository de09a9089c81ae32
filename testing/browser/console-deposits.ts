import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../http/deposit-bodies.ts';
import type { TestClient } from '../service/running-service.ts';

/** Titles and names that would run as a script, or end an attribute, if a page took them for markup. */
export const HOSTILE_TEXTS = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  'javascript:alert(1)',
  '</title><svg onload=alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
  '${alert(1)}',
  '\u202Egpj.exe\u202C',
];

/** Makes a deposit, and resolves to its id once its status is the one that is expected. */
export async function depositOf(
  client: TestClient,
  {
    title = 'Paint',
    filename = 'paint.zip',
    collection = 'software',
    status = 'done',
  }: {
    readonly title?: string;
    readonly filename?: string;
    readonly collection?: string;
    readonly status?: 'done' | 'rejected' | 'partial' | 'deposited';
  } = {},
): Promise<number> {
  const safe = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const entry = entryXml(`<title>${safe}</title><author><name>${safe}</name></author>`);
  const form = formOf([archivePart(undefined, filename), entryPart(entry)]);
  const progress = status === 'partial' ? partial : final;
  const answer = await client.post(`/1/${collection}/`, form, { ...formType, ...progress });
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`The deposit was refused: ${answer.status} ${body}`);
  const id = Number(/<deposit_id>(\d+)</.exec(body)?.[1]);
  await client.waitFor(`/1/${collection}/${id}/status/`, status);
  return id;
}
