import { random } from '../../src/tools/random.ts';
import { absoluteIri } from '../documents/absolute-iri.ts';
import { type DepositLinks, type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import { about, Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { linkOfAnswer } from '../http/link-header.ts';
import { Unsure } from '../http/losses.ts';
import type { MultipartType } from '../http/multipart.ts';
import { Refused } from '../http/refused.ts';
import { type Pieces, type PiecesOptions, piecesOf } from './pieces.ts';
import type { Step } from './plan.ts';
import { requestOf } from './step-request.ts';

/** State of a deposit between two steps. */
export type DepositState = {
  readonly deposit: string;
  readonly links: DepositLinks;
  /** ETag after the last write; `null` if the server sends none. */
  readonly etag: string | null;
};

export type PerformOptions = PiecesOptions & {
  readonly slug: string | undefined;
  /** Called with the state of the deposit after each step. */
  readonly onState: (state: DepositState) => void;
};

/**
 * Performs the steps one after the other. A lost request is repeated only if that cannot create a second deposit, or a
 * second archive.
 * @throws {Fault} with the number of the deposit, if it exists nevertheless.
 */
export async function perform(
  steps: readonly Step[],
  begun: DepositState | null,
  options: PerformOptions,
): Promise<DepositState> {
  let standing = begun;
  try {
    for (const step of steps) {
      const pieces = piecesOf(step, options);
      standing =
        (pieces && (await findRecorded(standing, pieces, options))) ??
        (await sendStep(step, standing, pieces, options));
      pieces?.forget();
      options.onState(standing);
    }
  } catch (error) {
    if (error instanceof Fault && standing) error.deposit = standing.deposit;
    throw error;
  }
  return standing!; // there is at least one step
}

/**
 * Returns the state after the step if an earlier process has performed it without seeing the answer; otherwise `null`.
 */
async function findRecorded(
  standing: DepositState | null,
  pieces: Pieces,
  { connection, note }: PerformOptions,
): Promise<DepositState | null> {
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
  note(`The archive is already in deposit ${receipt.deposit}: continuing with that deposit.`);
  return standingAt(answer, receipt);
}

/**
 * Performs a step. Starts its upload over, once, if the server no longer has it: another node may have taken over. Both
 * requests have the same key, so the archive is recorded once.
 */
async function sendStep(
  step: Step,
  standing: DepositState | null,
  pieces: Pieces | null,
  options: PerformOptions,
): Promise<DepositState> {
  const keyed = { ...options, key: random.uuid() };
  const attempt = async () => performStep(step, standing, (await pieces?.send()) ?? null, keyed);
  try {
    return await attempt();
  } catch (error) {
    const mayBeGone =
      error instanceof Refused && error.status === 404 && options.collection.recognisesRepeats;
    if (!mayBeGone || !(await pieces?.isGone())) throw error;
    options.note('The server no longer has the upload; starting over.');
    return attempt();
  }
}

/** The options of one step, and the key of its request. */
type KeyedOptions = PerformOptions & { readonly key: string };

function performStep(
  step: Step,
  standing: DepositState | null,
  upload: string | null,
  options: KeyedOptions,
): Promise<DepositState> {
  return standing ? change(step, standing, upload, options) : create(step, upload, options);
}

/**
 * Creates the deposit. A creation whose answer was lost is repeated only if the server recognizes it: by its
 * Idempotency-Key, or by the upload that it names, which becomes an archive only once.
 */
async function create(step: Step, upload: string | null, options: KeyedOptions): Promise<DepositState> {
  const { connection, collection, slug, onSent, key } = options;
  const send = async (multipart: MultipartType): Promise<Answer> => {
    const { headers, body } = requestOf(step, { collection, slug, upload, multipart, key });
    const { answer } = await connection.ask('POST', collection.iri, {
      headers,
      body,
      repeatable: upload !== null || collection.recognisesRepeats,
      onSent: (bytes) => onSent(step, bytes, body?.length ?? 0),
    });
    return answer;
  };
  try {
    // SWORD 2.0 has multipart/related. Some servers have forms only, and refuse it before they make a deposit.
    const first = await send(collection.recognisesRepeats ? 'form-data' : 'related');
    const isOtherForm = first.status === 415 && !collection.recognisesRepeats;
    const answer = isOtherForm ? await send('form-data') : first;
    if (isSuccess(answer)) return await standingOfNew(answer, connection);
    return await standingOfUsedUpload(upload, answer, connection);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    const advice = 'Check with deposit list whether the deposit exists before you send it again.';
    throw new Unsure(`${error.message}\n${advice}`, error);
  }
}

/**
 * Returns the state of a deposit that was made. Its receipt is in the answer or, on servers that answer otherwise, at the
 * Edit-IRI of the `Location`.
 * @throws {Fault} with the Edit-IRI, if no receipt can be read.
 */
async function standingOfNew(answer: Answer, connection: Connection): Promise<DepositState> {
  const { location } = answer.headers;
  try {
    return standingAt(answer, readReceipt(answer));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const edit = location === undefined ? null : absoluteIri(location, answer.iri);
    if (edit === null) {
      throw new Fault(
        `The deposit was created, but its receipt cannot be read: ${error.message} Find it with deposit list.`,
      );
    }
    return await about(edit, async () => {
      const receipt = await connection.get(edit);
      return standingAt(
        receipt,
        readReceipt({ ...receipt, headers: { location: edit, ...receipt.headers } }),
      );
    });
  }
}

/**
 * Changes the deposit. `If-Match` makes it safe to repeat an addition: if the first request was recorded, the deposit
 * no longer has that revision.
 */
async function change(
  step: Step,
  standing: DepositState,
  upload: string | null,
  { connection, collection, onSent, key }: KeyedOptions,
): Promise<DepositState> {
  const { headers, body } = requestOf(step, { collection, upload, key });
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
    return standingAfterRepetition(step, standing, answer, connection);
  return standingOfUsedUpload(upload, answer, connection);
}

/**
 * Returns the state if the named upload is already an archive: this request was recorded before, and its answer lost.
 */
async function standingOfUsedUpload(
  upload: string | null,
  refusal: Answer,
  connection: Connection,
): Promise<DepositState> {
  const edit = linkOfAnswer(refusal, 'edit');
  if (upload === null || refusal.status !== 409 || edit === null) throw new Refused(refusal);
  const answer = await connection.get(edit);
  return standingAt(answer, readReceipt(answer));
}

/**
 * Returns the state if only the repetition was refused because the first attempt had been recorded, as the deposit
 * shows.
 */
async function standingAfterRepetition(
  step: Step,
  { links }: DepositState,
  refusal: Answer,
  connection: Connection,
): Promise<DepositState> {
  const answer = await connection.get(links.edit);
  const receipt = readReceipt(answer);
  const isCompleted = receipt.status !== 'partial';
  const isOurs = 'archive' in step && step.archive ? receipt.archive === step.archive.filename : true;
  if (isCompleted !== step.final || !isOurs) throw new Refused(refusal);
  return standingAt(answer, receipt);
}

function standingAt({ headers }: Answer, { deposit, links }: Receipt): DepositState {
  return { deposit, links, etag: headers['etag'] ?? null };
}

/** @throws {Fault} the server names no such address. */
function targetOf({ kind }: Step, { media, add, edit }: DepositLinks): string {
  switch (kind) {
    case 'add-archive':
    case 'replace-archives':
      if (media === null) throw new Fault(`The server does not say where to send archives of ${edit}.`);
      return media;
    case 'add-metadata':
      return add;
    default:
      return edit;
  }
}
