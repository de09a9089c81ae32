import { absoluteIri } from '../documents/absolute-iri.ts';
import { type DepositLinks, type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import type { Collection } from '../documents/service-document.ts';
import { about, Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Unsure } from '../http/losses.ts';
import type { MultipartType } from '../http/multipart.ts';
import { Refused } from '../http/refused.ts';
import { ignoreErrors } from '../state-files.ts';
import { ResumableUpload } from '../tus/resumable-upload.ts';
import { archiveType } from './archive-limits.ts';
import { inChunks, type Step } from './plan.ts';
import { createdOtherwise, isConflict, isGone, isRecorded } from './recorded.ts';
import { requestOf } from './step-request.ts';
import type { StoredKey } from './stored-key.ts';

export type PerformOptions = {
  readonly connection: Connection;
  readonly collection: Collection;
  readonly stored: StoredKey;
  readonly slug: string | undefined;
  /** Called with how much of a request is sent. */
  readonly onSent: (sent: Sent) => void;
  /** Called with the deposit after each request. */
  readonly onState: (state: Receipt) => void;
  readonly note: (text: string) => void;
};

export type Sent = {
  readonly step: Step;
  readonly bytes: number;
  readonly total: number;
  /** The number of the request, and of all. */
  readonly request: readonly [number, number];
};

/**
 * Performs the steps one after the other. A request is repeated, by this process or a later one, only if that cannot
 * create a second deposit, or a second archive.
 * @throws {Fault} with the number of the deposit, if it exists nevertheless.
 */
export async function perform(
  steps: readonly Step[],
  begun: Receipt | null,
  options: PerformOptions,
): Promise<Receipt> {
  const { connection, stored, note } = options;
  const isRepeated = stored.isShared;
  if (isRepeated) note('Another run of this command has not finished: continuing with the same deposit.');
  let edit: string | null = null;
  const onState = (state: Receipt): void => {
    edit = state.links.edit;
    options.onState(state);
  };
  // The creation of a deposit that was deleted since is answered as before.
  const isDeleted = async () => isRepeated && !begun && edit !== null && (await isGone(edit, connection));
  try {
    const state = await performAll(steps, begun, { ...options, onState });
    if (!(await isDeleted())) return state;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    edit ??= error.edit;
    if (!(await isDeleted())) throw error;
  }
  note('The deposit of the interrupted command no longer exists; starting over.');
  stored.renew();
  return performAll(steps, null, options);
}

async function performAll(
  steps: readonly Step[],
  begun: Receipt | null,
  options: PerformOptions,
): Promise<Receipt> {
  const { collection, stored, note } = options;
  let standing = begun;
  let rest = [...steps];
  try {
    for (let [step, number] = [rest.shift(), 1]; step; step = rest.shift()) {
      const request = [number, number + rest.length] as const;
      const key = stored.of(step.action === 'create' ? 'creation' : rest.length);
      try {
        standing = await sendStep(step, standing, { ...options, key, request });
        options.onState(standing);
        number += 1;
      } catch (error) {
        const made = await createdOtherwise(step, rest, error, options);
        if (made) {
          [standing, rest] = [made.receipt, made.rest];
          options.onState(standing);
          continue;
        }
        const reason = mayBeChunked(step, collection) && reasonForChunks(step, error, stored);
        if (!reason) throw error;
        note(reason);
        rest.unshift(...inChunks(step));
      }
    }
  } catch (error) {
    if (error instanceof Fault && standing) error.deposit = standing.deposit;
    if (isConflict(error) && !standing)
      note(
        `Another run of this command may have created the deposit: check with deposit list.\nTo make another deposit, remove ${stored.file} and run the command again.`,
      );
    throw error;
  }
  return standing!; // there is at least one step
}

/** Returns why the archive of a refused request has to be sent in chunks; `null` if that does not help. */
function reasonForChunks({ entry }: Step, error: unknown, { isShared }: StoredKey): string | null {
  // A proxy sends no SWORD document.
  if (error instanceof Refused && error.status === 413 && error.refusal.title === null)
    return 'A proxy refuses requests of this size: sending smaller ones.';
  if (isConflict(error) && isShared && entry)
    return 'Another run of this command has sent the archive before the metadata: this one does, too.';
  return null;
}

function mayBeChunked(
  { archive, isChunked }: Step,
  { recognisesRepeats, resumableUploads }: Collection,
): boolean {
  return archive !== null && !isChunked && recognisesRepeats && resumableUploads !== null;
}

/**
 * Performs a step. Starts its upload over, once, if the server no longer has it: another node may have taken over. All
 * requests have the same key, so the archive is recorded once.
 */
async function sendStep(step: Step, standing: Receipt | null, options: RequestOptions): Promise<Receipt> {
  const { connection, collection, note, stored } = options;
  const upload = uploadOf(step, options);
  const retries = connection.retries();
  for (let isStartedOver = false; ; ) {
    try {
      const iri = (await upload?.send()) ?? null;
      const state = await (standing ? change(step, standing, iri, options) : create(step, iri, options));
      upload?.forget();
      return state;
    } catch (error) {
      // Its bytes were changed on their way: the next run of the command sends them again.
      if (error instanceof Refused && error.refusal.error?.endsWith('/ErrorChecksumMismatch'))
        upload?.forget();
      const isOfUpload = error instanceof Refused && [404, 409].includes(error.status);
      if (!upload || !isOfUpload || !collection.recognisesRepeats) throw error;
      if (await upload.isGone()) {
        if (isStartedOver) throw error;
        isStartedOver = true;
        upload.forget();
        note('The server no longer has the upload; starting over.');
        continue;
      }
      // Another process with the same key names the same upload: its answer will be the answer.
      const isInUse = error.status === 409 && stored.isShared && error.edit === null;
      if (!isInUse || !(await retries.next())) throw error;
    }
  }
}

/** Returns the resumable upload of the step's archive, if it is one. */
function uploadOf(
  step: Step,
  { connection, collection, request, onSent, note }: RequestOptions,
): ResumableUpload | null {
  const [{ archive, isChunked }, uploads] = [step, collection.resumableUploads];
  if (!archive || !isChunked || uploads === null) return null;
  const mediaType = archiveType(archive.format, collection);
  const onBytes = (bytes: number): void => onSent({ step, bytes, total: archive.length, request });
  return new ResumableUpload(archive, { connection, uploads, mediaType, onSent: onBytes, note });
}

/** The options of one request, with its key and its number. */
type RequestOptions = PerformOptions & Pick<Sent, 'request'> & { readonly key: string };

/** Creates the deposit. A creation whose answer was lost is repeated only if the server recognizes its key. */
async function create(step: Step, upload: string | null, options: RequestOptions): Promise<Receipt> {
  const { connection, collection, slug, onSent, key, request } = options;
  const send = async (multipart: MultipartType): Promise<Answer> => {
    const { headers, body } = requestOf(step, { collection, slug, upload, multipart, key });
    const { answer } = await connection.ask('POST', collection.iri, {
      headers,
      body,
      repeatable: collection.recognisesRepeats,
      onSent: (bytes) => onSent({ step, bytes, total: body?.length ?? 0, request }),
    });
    return answer;
  };
  try {
    // SWORD 2.0 has multipart/related. Some servers have forms only, and refuse it before they make a deposit.
    const first = await send(collection.recognisesRepeats ? 'form-data' : 'related');
    const isOtherForm = first.status === 415 && !collection.recognisesRepeats;
    const answer = isOtherForm ? await send('form-data') : first;
    if (!isSuccess(answer)) throw new Refused(answer);
    return await standingOfNew(answer, connection);
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    const advice = collection.recognisesRepeats
      ? 'Run the same command again: it makes no second deposit.'
      : 'Check with deposit list whether the deposit exists before you send it again.';
    throw new Unsure(`${error.message}\n${advice}`, error);
  }
}

/**
 * Returns the state of a deposit that was made. Its receipt is in the answer or, on servers that answer otherwise, at the
 * Edit-IRI of the `Location`.
 * @throws {Fault} with the Edit-IRI, if no receipt can be read.
 */
async function standingOfNew(answer: Answer, connection: Connection): Promise<Receipt> {
  const { location } = answer.headers;
  try {
    return readReceipt(answer);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const edit = location && ignoreErrors(() => absoluteIri(location, answer.iri));
    const text = `The deposit was created, but its receipt cannot be read: ${error.message} Find it with deposit list.`;
    if (!edit) throw new Fault(text);
    return await about(edit, async () => {
      return readReceipt(await connection.get(edit), edit);
    });
  }
}

/**
 * Changes the deposit. `If-Match` makes it safe to repeat an addition: if the first request was recorded, the deposit
 * no longer has that revision.
 */
async function change(
  step: Step,
  standing: Receipt,
  upload: string | null,
  options: RequestOptions,
): Promise<Receipt> {
  const { connection, collection, stored, onSent, key, request } = options;
  const { headers, body } = requestOf(step, { collection, upload, key });
  const { etag, links } = standing;
  const isReplacement = step.action === 'replace';
  const { answer, repeated } = await connection.ask(isReplacement ? 'PUT' : 'POST', targetOf(step, links), {
    headers: { ...headers, ...(etag !== null && !isReplacement && { 'If-Match': etag }) },
    body,
    repeatable: isReplacement || etag !== null || collection.recognisesRepeats,
    onSent: (bytes) => onSent({ step, bytes, total: body?.length ?? 0, request }),
  });
  if (isSuccess(answer)) return { ...standing, etag: answer.headers['etag'] ?? null };
  // A server that recognizes keys finds that of a recorded request first. An older one does so with POST alone.
  const mayBeRecorded = isReplacement
    ? repeated || stored.isShared
    : repeated && !collection.recognisesRepeats;
  if (!mayBeRecorded || ![405, 412].includes(answer.status)) throw new Refused(answer);
  return standingAfterRepetition(step, standing, answer, options);
}

/**
 * Returns the state if only the repetition was refused because the first attempt had been recorded, as the deposit
 * shows.
 */
async function standingAfterRepetition(
  step: Step,
  { links }: Receipt,
  refusal: Answer,
  { connection, note }: RequestOptions,
): Promise<Receipt> {
  const receipt = readReceipt(await connection.get(links.edit));
  const isCompleted = receipt.status !== 'partial';
  const recorded = await isRecorded(step, receipt, connection);
  if (recorded === false)
    note(`The history of deposit ${receipt.deposit} shows that this change is not recorded.`);
  const isLikely = isCompleted === step.final && (!step.archive || receipt.archive === step.archive.filename);
  if (!(recorded ?? isLikely)) throw new Refused(refusal);
  return receipt;
}

/** @throws {Fault} the server names no such address. */
function targetOf({ action, archive }: Step, { media, add, edit }: DepositLinks): string {
  if (!archive) return action === 'add' ? add : edit;
  if (media === null) throw new Fault(`The server does not say where to send archives of ${edit}.`);
  return media;
}
