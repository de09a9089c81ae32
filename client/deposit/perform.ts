import { type DepositLinks, type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import type { Collection } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess, Unsure } from '../http/connection.ts';
import { Refused } from '../http/refused.ts';
import type { Step } from './plan.ts';
import { requestOf } from './step-request.ts';

/** Where a deposit stands between two steps. */
export type Standing = {
  readonly deposit: string;
  readonly links: DepositLinks;
  /** As of the last write; `null` when the server gives none. */
  readonly etag: string | null;
};

export type PerformOptions = {
  readonly connection: Connection;
  readonly collection: Collection;
  readonly slug: string | undefined;
  /** Told of the bytes of the present request that were sent so far. */
  readonly onSent: (step: Step, bytes: number, total: number) => void;
};

/**
 * Performs the steps one after the other. What was lost on the way is repeated only where that cannot make a second
 * deposit, or a second archive.
 * @throws {Fault} with the number of the deposit, when it is there all the same.
 */
export async function perform(
  steps: readonly Step[],
  begun: Standing | null,
  options: PerformOptions,
): Promise<Standing> {
  let standing = begun;
  try {
    for (const step of steps) {
      standing =
        step.kind === 'create' ? await create(step, options) : await change(step, standing!, options); // a creation comes first
    }
  } catch (error) {
    if (error instanceof Fault && standing) error.deposit = standing.deposit;
    throw error;
  }
  return standing!; // there is at least one step
}

/** A creation that was lost is repeated only by a server that recognises it: see {@link Collection.recognisesRepeats}. */
async function create(
  step: Step,
  { connection, collection, slug, onSent }: PerformOptions,
): Promise<Standing> {
  const request = requestOf(step, collection, slug);
  try {
    const answer = await connection.write('POST', collection.iri, {
      ...request,
      repeatable: collection.recognisesRepeats,
      onSent: (bytes) => onSent(step, bytes, request.body?.length ?? 0),
    });
    return standingAt(answer, readReceipt(answer));
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    throw new Unsure(
      `${error.message}\nLook with deposit list whether the deposit is there before you send it again.`,
      error,
    );
  }
}

/**
 * `If-Match` makes the repetition of an addition safe: had the first one been recorded, the deposit is not at the
 * revision any more that it names.
 */
async function change(step: Step, standing: Standing, options: PerformOptions): Promise<Standing> {
  const { connection, collection, onSent } = options;
  const { headers, body } = requestOf(step, collection, undefined);
  const isReplacement = step.kind === 'replace-archives' || step.kind === 'replace-metadata';
  const { answer, repeated } = await connection.ask(
    isReplacement ? 'PUT' : 'POST',
    targetOf(step, standing.links),
    {
      headers: { ...headers, ...(standing.etag !== null && !isReplacement && { 'If-Match': standing.etag }) },
      body,
      repeatable: isReplacement || standing.etag !== null || collection.recognisesRepeats,
      onSent: (bytes) => onSent(step, bytes, body?.length ?? 0),
    },
  );
  if (isSuccess(answer)) return { ...standing, etag: answer.headers['etag'] ?? null };
  if (repeated && [405, 412].includes(answer.status))
    return recordedBefore(step, standing, answer, connection);
  throw new Refused(answer);
}

/** Only the repetition was refused, because the first try had been recorded: if the deposit shows what it did. */
async function recordedBefore(
  step: Step,
  { links }: Standing,
  refusal: Answer,
  connection: Connection,
): Promise<Standing> {
  const answer = await connection.get(links.edit);
  const receipt = readReceipt(answer);
  const isCompleted = receipt.status !== 'partial';
  const isOurs = 'archive' in step && step.archive ? receipt.archive === step.archive.filename : true;
  if (isCompleted !== step.final || !isOurs) throw new Refused(refusal);
  return standingAt(answer, receipt);
}

function standingAt({ headers }: Answer, { deposit, links }: Receipt): Standing {
  return { deposit, links, etag: headers['etag'] ?? null };
}

function targetOf({ kind }: Step, { media, add, edit }: DepositLinks): string {
  switch (kind) {
    case 'add-archive':
    case 'replace-archives':
      return media;
    case 'add-metadata':
      return add;
    default:
      return edit;
  }
}
