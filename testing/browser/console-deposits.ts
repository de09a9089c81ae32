import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../http/deposit-bodies.ts';
import type { TestClient } from '../http/test-client.ts';

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

export type MadeDeposit = {
  readonly title?: string;
  readonly author?: string;
  readonly filename?: string;
  readonly collection?: string;
  readonly status?: 'done' | 'rejected' | 'partial' | 'deposited';
  /** The archive, in place of a zip. */
  readonly tar?: Buffer;
  /** Further elements of the entry. */
  readonly more?: string;
};

/** Makes a deposit, and resolves to its id once its status is the one that is expected. */
export async function depositOf(
  client: TestClient,
  {
    title = 'Paint',
    author = title,
    filename = 'paint.zip',
    collection = 'software',
    status = 'done',
    tar,
    more = '',
  }: MadeDeposit = {},
): Promise<number> {
  const entry = entryXml(
    `<title>${escaped(title)}</title><author><name>${escaped(author)}</name></author>${more}`,
  );
  const archive = archivePart(tar, filename, tar && 'application/x-tar');
  const form = formOf([archive, entryPart(entry)]);
  const progress = status === 'partial' ? partial : final;
  const answer = await client.post(`/1/${collection}/`, new Uint8Array(form), { ...formType, ...progress });
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`The deposit was refused: ${answer.status} ${body}`);
  const id = Number(/<deposit_id>(\d+)</.exec(body)?.[1]);
  await client.waitFor(`/1/${collection}/${id}/status/`, status);
  return id;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
