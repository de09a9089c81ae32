import { megabytes } from '../../src/tools/terminal/progress-bar.ts';
import type { Receipt } from '../documents/deposit-documents.ts';
import type { ServiceDocument } from '../documents/service-document.ts';
import { Fault } from '../faults.ts';
import { Refused } from '../http/refused.ts';
import type { Session } from '../session.ts';
import { isResumable } from './archive-limits.ts';
import { perform } from './perform.ts';
import type { Step } from './plan.ts';
import type { StoredKey } from './stored-key.ts';
import type { Target } from './target.ts';
import type { UploadProgress } from './upload-progress.ts';

export type SendOptions = Session & {
  readonly target: Target;
  readonly progress: UploadProgress;
  readonly stored: StoredKey;
  readonly slug: string | undefined;
};

/**
 * Sends the requests that `plan` returns for a service, and shows their progress. If a proxy refuses an archive as too
 * large, plans them again for a service with that limit.
 */
export async function sendUpload(
  plan: (service: ServiceDocument) => readonly Step[],
  { connection, output, target, progress, stored, slug }: SendOptions,
): Promise<Receipt> {
  const { collection, existing } = target;
  let { service } = target;
  let reached: Reached = { state: existing, step: null, bytes: 0 };
  const note = (text: string): void => output.note(text);
  progress.begin(`Sending to ${collection.iri}`);
  progress.leaves(() => leftBySending(reached, { service, collection }));
  for (;;) {
    const steps = plan(service);
    let performed = 0;
    try {
      return await perform(steps, existing, {
        connection,
        service,
        collection,
        slug,
        stored,
        onSent: (step, bytes, of) => {
          reached = { ...reached, step, bytes };
          const which = steps.length > 1 ? `, request ${steps.indexOf(step) + 1} of ${steps.length}` : '';
          progress.sent(which, bytes, of);
        },
        onState: (state) => {
          performed += 1;
          reached = { state, step: null, bytes: 0 };
        },
        note,
      });
    } catch (error) {
      const limit = limitOfProxy(error, steps, performed, { service, collection });
      if (limit === null) {
        const isRefused = error instanceof Refused && error.isFinal;
        if (error instanceof Fault && error.deposit !== null)
          note(resumeAdvice(error.deposit, !isRefused && collection.recognisesRepeats));
        throw error;
      }
      // Requests before the refused one are the same in the new plan: repeated with their keys, they change nothing.
      note('A proxy refuses requests of this size: sending smaller ones.');
      service = { ...service, maxUploadSize: limit };
    }
  }
}

/**
 * Returns the largest size below that of the remaining archives, if a proxy, which sends no SWORD document, has refused
 * one of them as too large, and it can be sent in chunks; `null` if requests that are performed would change.
 */
function limitOfProxy(
  error: unknown,
  steps: readonly Step[],
  performed: number,
  { service, collection }: Pick<Target, 'service' | 'collection'>,
): number | null {
  const isOfProxy = error instanceof Refused && error.status === 413 && error.refusal.title === null;
  if (!isOfProxy || !collection.recognisesRepeats || collection.resumableUploads === null) return null;
  const sizes = steps.map(({ archive }) =>
    archive && !isResumable(archive, service, collection) ? archive.length : 0,
  );
  const largest = Math.max(...sizes.slice(performed));
  return largest > 0 && sizes.slice(0, performed).every((size) => size < largest) ? largest - 1 : null;
}

/** How far an upload is: the deposit, if it exists, and the request in progress. */
type Reached = {
  readonly state: Receipt | null;
  readonly step: Step | null;
  readonly bytes: number;
};

/** Says what an interrupt leaves at the server, and how to resume. */
function leftBySending(
  { state, step, bytes }: Reached,
  { service, collection }: Pick<Target, 'service' | 'collection'>,
): string {
  const archive = step?.archive ?? null;
  const isChunked = archive !== null && isResumable(archive, service, collection);
  const sent = isChunked
    ? `${megabytes(bytes)} of ${megabytes(archive.length)} MB of ${archive.source} are at the server.`
    : '';
  if (state !== null) return `${sent} ${resumeAdvice(state.deposit, collection.recognisesRepeats)}`.trim();
  if (step === null) return 'Nothing was sent.';
  if (isChunked || collection.recognisesRepeats)
    return `${sent} Run the same command again to resume.`.trim();
  return 'The server may have created the deposit: check with deposit list before you send it again.';
}

/** Says how to go on. A repeated command does, unless the server has refused it, or does not recognize it. */
function resumeAdvice(deposit: string, byRepeating: boolean): string {
  const how = byRepeating ? 'by running the same command again' : `with deposit upload --deposit ${deposit}`;
  return `Deposit ${deposit} exists with everything sent before. Continue ${how}, or remove it with deposit delete ${deposit}.`;
}
