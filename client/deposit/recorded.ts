import { hash } from 'node:crypto';
import { type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import { historyEventOf, pagesOf } from '../documents/feed.ts';
import type { Connection } from '../http/connection.ts';
import { Refused } from '../http/refused.ts';
import { inChunks, type Step } from './plan.ts';

/**
 * Resolves to whether the history of the deposit has the change of a step, which has either an archive or an entry.
 * `null` if the server has no history.
 */
export async function isRecorded(
  { action, archive, entry }: Step,
  { links }: Pick<Receipt, 'links'>,
  connection: Connection,
): Promise<boolean | null> {
  if (links.history === null) return null;
  const replaces = action === 'replace';
  const wanted = archive
    ? { type: replaces ? 'ArchivesReplaced' : 'ArchiveAdded', sha256: archive.sha256 }
    : { type: replaces ? 'MetadataReplaced' : 'MetadataAdded', sha256: hash('sha256', entry!.bytes) };
  for await (const { entries } of pagesOf(connection, links.history)) {
    for (const { type, details } of entries.map(historyEventOf))
      if (type === wanted.type && details.includes(`sha256: ${wanted.sha256}`)) return true;
  }
  return false;
}

/**
 * Returns the deposit that an earlier request with the key has created, with what is left to send. That request had archive
 * and metadata, and this one has not, or the other way round. `null` if the server names none.
 */
export async function createdOtherwise(
  step: Step,
  rest: readonly Step[],
  error: unknown,
  connection: Connection,
): Promise<{ readonly receipt: Receipt; readonly rest: Step[] } | null> {
  if (step.action !== 'create' || !isConflict(error) || error.edit === null) return null;
  if (await isGone(error.edit, connection)) return null;
  const receipt = readReceipt(await connection.get(error.edit), error.edit);
  const [next, ...later] = step.entry ? [...inChunks(step).slice(1), ...rest] : rest;
  if (!next || next.archive) return { receipt, rest: next ? [next, ...later] : [] };
  const recorded = await isRecorded(next, receipt, connection);
  return recorded === null ? null : { receipt, rest: recorded ? later : [next, ...later] };
}

/** Whether the key was used with other content, or another request uses the upload. */
export function isConflict(error: unknown): error is Refused {
  return error instanceof Refused && error.status === 409;
}

/** Whether a deposit no longer exists. */
export async function isGone(edit: string, connection: Connection): Promise<boolean> {
  const headers = { Accept: 'application/xml' };
  const answer = await connection.ask('GET', edit, { headers, repeatable: true });
  return [404, 410].includes(answer.status);
}
