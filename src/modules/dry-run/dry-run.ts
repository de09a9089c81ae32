import type { ArchiveLimits, ArchiveReader } from '../../archives/archive-reader.ts';
import { inspectArchive } from '../../deposits/check.ts';
import type { ReceivedContent } from '../../deposits/client-write.ts';
import { assertSameRequest } from '../../deposits/idempotency/idempotency-store.ts';
import { requestFingerprints } from '../../deposits/idempotency/request-fingerprint.ts';
import { check } from '../../domain/deposit/checks.ts';
import { validateMetadata } from '../../domain/deposit/metadata/metadata-checks.ts';
import { dryRunDetail, withWarnings } from '../../domain/deposit/status-detail.ts';
import type { DryRunHandler } from '../../http/http-module.ts';
import type { CheckWrite } from '../../http/requests/write-checks.ts';
import { WRITES } from '../../http/requests/writes-by-iri.ts';
import { answerDocument } from '../../http/responses/representation.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { type DryRunDocument, dryRunDocument } from '../../sword/documents/dry-run-document.ts';
import { render } from '../../sword/documents/render.ts';
import { DOCUMENT_OFFERS, negotiate } from '../../sword/headers/accept.ts';
import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import type { DryRunStorage } from './dry-run-storage.ts';

type DryRunPlaces = {
  readonly begin: () => Promise<DryRunStorage>;
  readonly reader: Pick<ArchiveReader, 'inspect'>;
  readonly limits: ArchiveLimits;
};

/** Limits on concurrent dry runs, in total and of the only client that has any. */
const [MAX_AT_A_TIME, MAX_OF_CLIENT] = [8, 4];

/**
 * Returns what answers 200 with what the checks of a new deposit find; what would refuse the request itself refuses this
 * one. Makes no deposit, and removes the content with the answer.
 */
export function dryRuns(
  places: DryRunPlaces,
  parts: RenderContext & { readonly checkWrite: CheckWrite },
): DryRunHandler {
  const running = new FairSemaphore({
    limit: MAX_AT_A_TIME,
    ownerLimit: MAX_OF_CLIENT,
    shrinking: true,
    refuse: (reached, held) => busy(`${held} dry runs${reached === 'owner' ? ' of yours' : ''}`),
  });
  return async (ctx, { collection }) => {
    const { login, requestId } = ctx.state;
    using _permit = running.acquireNow(login.client);
    const write = await parts.checkWrite({ ctx, rule: WRITES.create, collection });
    await using place = await places.begin();
    const content = await write.receive({ store: place });
    assertSameRequest(write.key?.earlier, requestFingerprints(write, content));
    const document = dryRunDocument({
      requestId,
      title: content.entry?.facts.title ?? null,
      client: login.client,
      updatedAt: clock.date().toISOString(),
      ...(await verdictOn(content, login.domain, places, place)),
    });
    const { contentType, format } = negotiate(DOCUMENT_OFFERS, ctx.req.headers.accept);
    ctx.vary('Accept');
    answerDocument(ctx, contentType, render(document, format, parts));
  };
}

async function verdictOn(
  { archive, entry }: ReceivedContent,
  clientDomain: string | null,
  places: DryRunPlaces,
  place: DryRunStorage,
): Promise<Pick<DryRunDocument, 'status' | 'statusDetail'>> {
  const entries = entry ? [entry] : [];
  if (entry?.facts.reference) {
    const { warnings } = validateMetadata(entries);
    return { status: 'done', statusDetail: withWarnings('The metadata would be deposited.', warnings) };
  }
  const archives = archive ? [await inspectArchive(places, archive, place.source(archive.sha256))] : [];
  const outcome = check({ entries, archives, conflicts: [], clientDomain });
  const { warnings } = outcome;
  if (outcome.verified) {
    return { status: 'verified', statusDetail: withWarnings('The deposit would pass its checks.', warnings) };
  }
  return { status: 'rejected', statusDetail: dryRunDetail(outcome.reasons, warnings) };
}

function busy(what: string): SwordError {
  const text = `${what} are running, the maximum at the same time: try again later.`;
  return retryAfter('ServiceUnavailable', text, 5);
}
