import { megabytes } from '../../src/tools/terminal/progress-bar.ts';
import type { Receipt } from '../documents/deposit-documents.ts';
import type { Collection } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import { Refused } from '../http/refused.ts';
import { isResumable } from './archive-limits.ts';
import type { Target } from './find-deposit.ts';
import { perform, type Reached, type Sending } from './perform.ts';
import { inChunks, type Step } from './plan.ts';
import type { StoredKey } from './stored-key.ts';

export type SendOptions = Omit<Sending, 'collection' | 'reached'> & { readonly target: Target };

/** Sends the requests of a plan, and shows their progress. */
export async function sendUpload(
  plan: readonly Step[],
  { target, ...options }: SendOptions,
): Promise<Receipt> {
  const { output, progress, stored } = options;
  const { service, collection, existing } = target;
  if (existing?.status && existing.status !== 'partial' && !stored.isShared) {
    stored.forget();
    throw notPartial(existing);
  }
  const reached: Reached = { state: existing, step: null, bytes: 0, mayBeRecorded: false };
  progress.begin(`Sending to ${collection.iri}`);
  progress.leaves(() => leftBySending(reached, collection, stored));
  const steps = plan.flatMap((step) =>
    step.archive && isResumable(step.archive, service, collection) ? inChunks(step) : [step],
  );
  try {
    return await perform(steps, { ...options, collection, reached });
  } catch (error) {
    const isEnd = isOver(error, reached, stored);
    if (isEnd) stored.forget();
    const isComplete = error instanceof Refused && error.status === 405; // as the server says
    if (error instanceof Fault && error.deposit !== null && !isComplete)
      output.note(resumeAdvice(error.deposit, !isEnd && stored.isStored));
    else if (!isEnd && error instanceof Refused && error.isFinal)
      output.note(
        stored.isStored
          ? 'An earlier request may have created the deposit. Run the same command again: it makes no second deposit.'
          : 'An earlier request may have created the deposit: check with deposit list before you send it again.',
      );
    throw error;
  }
}

/**
 * Whether the same command cannot continue what was sent: it was refused, and no earlier try or run may have recorded it.
 * Or the deposit was completed or changed meanwhile; a server that recognises keys finds a recorded request before that.
 */
function isOver(error: unknown, { state, mayBeRecorded }: Reached, { isShared }: StoredKey): boolean {
  if (!(error instanceof Refused) || !error.isFinal) return false;
  const isChanged = state !== null && [405, 412].includes(error.status);
  return isChanged || !(mayBeRecorded || isShared);
}

function notPartial({ deposit, status }: Receipt): Fault {
  const fault = new Fault(`Deposit ${deposit} is ${status}: it can be changed only while it is partial.`);
  fault.deposit = deposit;
  return fault;
}

/** Says what an interrupt leaves at the server, and how to resume. */
function leftBySending(
  { state, step, bytes }: Reached,
  { recognisesRepeats }: Collection,
  { isStored }: StoredKey,
): string {
  const sent =
    step?.archive && step.isChunked
      ? `${megabytes(bytes)} of ${megabytes(step.archive.length)} MB of ${step.archive.source} were sent.`
      : '';
  if (state !== null) return `${sent} ${resumeAdvice(state.deposit, isStored)}`.trim();
  if (step === null) return 'Nothing was sent.';
  const isResumed = recognisesRepeats ? isStored : sent !== '';
  if (isResumed) return `${sent} Run the same command again to resume.`.trim();
  return `${sent} The server may have created the deposit: check with deposit list before you send it again.`.trim();
}

/** Says how to go on. A repeated command does, unless it was refused, would not be recognized, or has no stored key. */
function resumeAdvice(deposit: string, byRepeating: boolean): string {
  const how = byRepeating ? 'by running the same command again' : `with deposit upload --deposit ${deposit}`;
  return `Deposit ${deposit} exists with everything sent before. Continue ${how}, or remove it with deposit delete ${deposit}.`;
}
