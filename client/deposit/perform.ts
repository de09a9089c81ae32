import { type DepositLinks, type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import type { Collection, ServiceDocument } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import { Unsure } from '../http/losses.ts';
import { Refused } from '../http/refused.ts';
import { type Pieces, piecesOf } from './pieces.ts';
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
  readonly service: ServiceDocument;
  readonly collection: Collection;
  readonly slug: string | undefined;
  /** Told of the bytes of a step that were sent so far. */
  readonly onSent: (step: Step, bytes: number, total: number) => void;
  readonly note: (text: string) => void;
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
      const pieces = piecesOf(step, options);
      standing =
        (pieces && (await recordedEarlier(standing, pieces, options))) ??
        (await performed(step, standing, pieces && (await pieces.send()), options));
      pieces?.forget();
    }
  } catch (error) {
    if (error instanceof Fault && standing) error.deposit = standing.deposit;
    throw error;
  }
  return standing!; // there is at least one step
}

/** The step as an earlier process has done it, whose end nobody saw; `null` when there was none. */
async function recordedEarlier(
  standing: Standing | null,
  pieces: Pieces,
  { connection, note }: PerformOptions,
): Promise<Standing | null> {
  const edit = await pieces.deposit();
  if (edit === null) return null;
  const { answer } = await connection.ask('GET', edit, {
    headers: { Accept: 'application/xml' },
    repeatable: true,
  });
  if ([403, 404, 410].includes(answer.status)) {
    pieces.forget(); // the deposit was deleted
    return null;
  }
  if (!isSuccess(answer)) throw new Refused(answer);
  const receipt = readReceipt(answer);
  if (receipt.status !== 'partial' || (standing && standing.deposit !== receipt.deposit)) {
    pieces.forget();
    return null;
  }
  note(`The archive was sent before, to deposit ${receipt.deposit}; going on with that.`);
  return standingAt(answer, receipt);
}

function performed(
  step: Step,
  standing: Standing | null,
  upload: string | null,
  options: PerformOptions,
): Promise<Standing> {
  return standing ? change(step, standing, upload, options) : create(step, upload, options);
}

/**
 * A creation whose answer was lost is repeated only where the server recognises it: by its Idempotency-Key, or by
 * the upload that it names, which becomes an archive only once.
 */
async function create(step: Step, upload: string | null, options: PerformOptions): Promise<Standing> {
  const { connection, collection, slug, onSent } = options;
  const { headers, body } = requestOf(step, { collection, slug, upload });
  try {
    const { answer } = await connection.ask('POST', collection.iri, {
      headers,
      body,
      repeatable: upload !== null || collection.recognisesRepeats,
      onSent: (bytes) => onSent(step, bytes, body?.length ?? 0),
    });
    if (isSuccess(answer)) return standingAt(answer, readReceipt(answer));
    return await usedBefore(upload, answer, connection);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    const advice = 'Look with deposit list whether the deposit is there before you send it again.';
    throw new Unsure(`${error.message}\n${advice}`, error);
  }
}

/**
 * `If-Match` makes the repetition of an addition safe: had the first one been recorded, the deposit is not at the
 * revision any more that it names.
 */
async function change(
  step: Step,
  standing: Standing,
  upload: string | null,
  { connection, collection, onSent }: PerformOptions,
): Promise<Standing> {
  const { headers, body } = requestOf(step, { collection, upload });
  const { etag, links } = standing;
  const isReplacement = step.kind === 'replace-archives' || step.kind === 'replace-metadata';
  const { answer, repeated } = await connection.ask(isReplacement ? 'PUT' : 'POST', targetOf(step, links), {
    headers: { ...headers, ...(etag !== null && !isReplacement && { 'If-Match': etag }) },
    body,
    repeatable: isReplacement || etag !== null || upload !== null || collection.recognisesRepeats,
    onSent: (bytes) => onSent(step, bytes, body?.length ?? 0),
  });
  if (isSuccess(answer)) return { ...standing, etag: answer.headers['etag'] ?? null };
  if (repeated && [405, 412].includes(answer.status))
    return recordedBefore(step, standing, answer, connection);
  return usedBefore(upload, answer, connection);
}

/** The upload that the request names is an archive already: this request was recorded before, its answer lost. */
async function usedBefore(upload: string | null, refusal: Answer, connection: Connection): Promise<Standing> {
  const edit = linkOfAnswer(refusal, 'edit');
  if (upload === null || refusal.status !== 409 || edit === null) throw new Refused(refusal);
  const answer = await connection.get(edit);
  return standingAt(answer, readReceipt(answer));
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
