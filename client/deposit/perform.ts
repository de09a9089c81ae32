import { absoluteIri } from '../documents/absolute-iri.ts';
import { type DepositLinks, type Receipt, readReceipt } from '../documents/deposit-documents.ts';
import type { Collection } from '../documents/service-document.ts';
import { about, Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Unsure } from '../http/losses.ts';
import type { MultipartType } from '../http/multipart.ts';
import { Refused } from '../http/refused.ts';
import type { Progress } from '../progress.ts';
import type { Session } from '../session.ts';
import { ignoreErrors } from '../state-files.ts';
import { ResumableUpload } from '../tus/resumable-upload.ts';
import { archiveType } from './archive-limits.ts';
import { inChunks, type Step } from './plan.ts';
import { createdOtherwise, isConflict, isGone, isRecorded } from './recorded.ts';
import { requestOf } from './step-request.ts';
import type { StoredKey } from './stored-key.ts';

/** The parts that send an upload, and how far it is. */
export type Sending = Session & {
  readonly collection: Collection;
  readonly progress: Progress;
  readonly stored: StoredKey;
  readonly slug: string | undefined;
  readonly reached: Reached;
};

/** How far an upload is: the deposit, if it exists, and the request in progress, of which an earlier try may be recorded. */
export type Reached = { state: Receipt | null; step: Step | null; bytes: number; mayBeRecorded: boolean };

/**
 * Performs the steps one after the other. A request is repeated, by this process or a later one, only if that cannot
 * create a second deposit, or a second archive.
 * @throws {Fault} with the number of the deposit, if it exists nevertheless.
 */
export async function perform(steps: readonly Step[], sending: Sending): Promise<Receipt> {
  const { connection, output, stored, reached } = sending;
  const isResumed = stored.isShared && reached.state === null;
  if (stored.isShared)
    output.note('Another run of this command has not finished: continuing with the same deposit.');
  // The creation of a deposit that was deleted since is answered as before.
  const isDeleted = async (edit = reached.state?.links.edit) =>
    isResumed && edit !== undefined && (await isGone(edit, connection));
  try {
    const state = await performAll(steps, sending);
    if (!(await isDeleted())) return state;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (!(await isDeleted(reached.state?.links.edit ?? error.edit ?? undefined))) throw error;
  }
  output.note('The deposit of the interrupted command no longer exists; starting over.');
  stored.renew();
  Object.assign(reached, { state: null, mayBeRecorded: false });
  return performAll(steps, sending);
}

async function performAll(steps: readonly Step[], sending: Sending): Promise<Receipt> {
  const { output, stored, reached } = sending;
  let rest = [...steps];
  try {
    for (let [step, number] = [rest.shift(), 1]; step; step = rest.shift()) {
      const request = [number, number + rest.length] as const;
      const key = stored.of(step.action === 'create' ? 'creation' : rest.length);
      try {
        const state = await sendStep(step, { ...sending, key, request });
        Object.assign(reached, { state, mayBeRecorded: false });
        number += 1;
      } catch (error) {
        const made = await createdOtherwise(step, rest, error, sending.connection);
        const reason = made ? null : reasonForChunks(step, error, sending);
        if (made) {
          Object.assign(reached, { state: made.receipt, mayBeRecorded: false });
          rest = made.rest;
        } else if (!reason) throw error;
        else {
          output.note(reason);
          rest.unshift(...inChunks(step));
        }
      }
      reached.step = null;
    }
  } catch (error) {
    if (error instanceof Fault && reached.state) error.deposit = reached.state.deposit;
    if (isConflict(error) && !reached.state)
      output.note(
        `Another run of this command may have created the deposit: check with deposit list.\nTo make another deposit, remove ${stored.file} and run the command again.`,
      );
    throw error;
  }
  return reached.state!; // there is at least one step
}

/** Returns why the archive of a refused request has to be sent in chunks; `null` if it cannot be, or that does not help. */
function reasonForChunks(
  { archive, entry, isChunked }: Step,
  error: unknown,
  { collection: { recognisesRepeats, resumableUploads }, stored }: Sending,
): string | null {
  if (!archive || isChunked || !recognisesRepeats || resumableUploads === null) return null;
  // A proxy sends no SWORD document.
  if (error instanceof Refused && error.status === 413 && error.refusal.title === null)
    return 'A proxy refuses requests of this size: sending smaller ones.';
  if (isConflict(error) && stored.isShared && entry)
    return 'Another run of this command has sent the archive before the metadata: this one does, too.';
  return null;
}

/**
 * Performs a step. Starts its upload over, once, if the server no longer has it: another node may have taken over. All
 * requests have the same key, so the archive is recorded once.
 */
async function sendStep(step: Step, sending: StepSending): Promise<Receipt> {
  const { connection, collection, output, stored, reached } = sending;
  const upload = uploadOf(step, sending);
  const retries = connection.retries();
  for (let isStartedOver = false; ; ) {
    try {
      const iri = (await upload?.send()) ?? null;
      const { state } = reached;
      const changed = await (state ? change(step, state, iri, sending) : create(step, iri, sending));
      upload?.forget();
      return changed;
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
        output.note('The server no longer has the upload; starting over.');
        continue;
      }
      // Another process with the same key names the same upload: its answer will be the answer.
      const isInUse = error.status === 409 && stored.isShared && error.edit === null;
      if (!isInUse || !(await retries.next())) throw error;
    }
  }
}

/** Returns the resumable upload of the step's archive, if it is one. */
function uploadOf(step: Step, sending: StepSending): ResumableUpload | null {
  const { connection, collection, output } = sending;
  const [{ archive, isChunked }, uploads] = [step, collection.resumableUploads];
  if (!archive || !isChunked || uploads === null) return null;
  const mediaType = archiveType(archive.format, collection);
  const onSent = sentOf(step, archive.length, sending);
  return new ResumableUpload(archive, {
    connection,
    uploads,
    mediaType,
    onSent,
    note: (text) => output.note(text),
  });
}

/** The sending of one request, with its key, its number, and the number of all. */
type StepSending = Sending & { readonly key: string; readonly request: readonly [number, number] };

/** Returns a function that shows how much of a request is sent. */
function sentOf(step: Step, total: number, { progress, reached, request: [number, count] }: StepSending) {
  return (bytes: number): void => {
    Object.assign(reached, { step, bytes });
    progress.sent(count > 1 ? `, request ${number} of ${count}` : '', bytes, total);
  };
}

/** Creates the deposit. A creation whose answer was lost is repeated only if the server recognizes its key. */
async function create(step: Step, upload: string | null, sending: StepSending): Promise<Receipt> {
  const { connection, collection, slug, key, reached, stored } = sending;
  const send = async (multipart: MultipartType): Promise<Answer> => {
    const { headers, body } = requestOf(step, { collection, slug, upload, multipart, key });
    const answer = await connection.ask('POST', collection.iri, {
      headers,
      body,
      repeatable: collection.recognisesRepeats,
      onSent: sentOf(step, body?.length ?? 0, sending),
    });
    reached.mayBeRecorded ||= answer.repeated || isSuccess(answer);
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
    const advice = stored.isStored
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
    return await about(edit, async () => readReceipt(await connection.get(edit), edit));
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
  sending: StepSending,
): Promise<Receipt> {
  const { connection, collection, stored, key, reached } = sending;
  const { headers, body } = requestOf(step, { collection, upload, key });
  const { etag, links } = standing;
  const isReplacement = step.action === 'replace';
  const answer = await connection.ask(isReplacement ? 'PUT' : 'POST', targetOf(step, links), {
    headers: { ...headers, ...(etag !== null && !isReplacement && { 'If-Match': etag }) },
    body,
    repeatable: isReplacement || etag !== null || collection.recognisesRepeats,
    onSent: sentOf(step, body?.length ?? 0, sending),
  });
  reached.mayBeRecorded ||= answer.repeated;
  if (isSuccess(answer)) return { ...standing, etag: answer.headers['etag'] ?? null };
  // A server that recognizes keys finds that of a recorded request first. An older one does so with POST alone.
  const mayBeRecorded = isReplacement
    ? answer.repeated || stored.isShared
    : answer.repeated && !collection.recognisesRepeats;
  if (!mayBeRecorded || ![405, 412].includes(answer.status)) throw new Refused(answer);
  return standingAfterRepetition(step, standing, answer, sending);
}

/**
 * Returns the state if only the repetition was refused because the first attempt had been recorded, as the deposit
 * shows.
 */
async function standingAfterRepetition(
  step: Step,
  { links }: Receipt,
  refusal: Answer,
  { connection, output }: Session,
): Promise<Receipt> {
  const receipt = readReceipt(await connection.get(links.edit));
  const isCompleted = receipt.status !== 'partial';
  const recorded = await isRecorded(step, receipt, connection);
  if (recorded === false)
    output.note(`The history of deposit ${receipt.deposit} shows that this change is not recorded.`);
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
