import type { CollectionView } from '../../../projections/collections.ts';
import type { ArchiveLimits, ArchiveReader } from '../../archives/inspection.ts';
import { inspectArchive } from '../../deposits/check.ts';
import type { ReceivedContent } from '../../deposits/client-write.ts';
import { assertSameRequest } from '../../deposits/idempotency/idempotency-store.ts';
import { requestFingerprint } from '../../deposits/idempotency/request-fingerprint.ts';
import { collectionEntryValidator, type LoadedDepositsLookup } from '../../deposits/validate-entry.ts';
import { check } from '../../domain/deposit/checks.ts';
import { validateMetadata } from '../../domain/deposit/metadata/metadata-checks.ts';
import { dryRunDetail, withWarnings } from '../../domain/deposit/status-detail.ts';
import type { WriteChecks } from '../../http/requests/write-checks.ts';
import { WRITES } from '../../http/requests/write-rules.ts';
import { answerDocument } from '../../http/responses/representation.ts';
import type { ServiceContext } from '../../http/service-context.ts';
import { type DryRunDocument, dryRunDocument } from '../../sword/documents/dry-run-document.ts';
import { render } from '../../sword/documents/render.ts';
import { negotiate } from '../../sword/headers/negotiate.ts';
import { SwordError } from '../../sword/sword-error.ts';
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

/** Checks new deposits without making them. Their content is removed when they are answered. */
export class DryRuns {
  readonly #places: DryRunPlaces;
  readonly #lookup: LoadedDepositsLookup;
  readonly #checks: WriteChecks;
  readonly #depositNamespace: string;
  readonly #running = new FairSemaphore({
    limit: MAX_AT_A_TIME,
    ownerLimit: MAX_OF_CLIENT,
    shrinking: true,
    refuse: (reached, held) => busy(`${held} dry runs${reached === 'owner' ? ' of yours' : ''}`),
  });

  constructor(
    places: DryRunPlaces,
    lookup: LoadedDepositsLookup,
    checks: WriteChecks,
    depositNamespace: string,
  ) {
    this.#places = places;
    this.#lookup = lookup;
    this.#checks = checks;
    this.#depositNamespace = depositNamespace;
  }

  /** Answers 200 with what the checks find; what would refuse the request itself refuses this one. */
  async answer(ctx: ServiceContext, collection: CollectionView): Promise<void> {
    using _permit = this.#running.acquireNow(ctx.state.login.client);
    const document = await this.#run(ctx, collection);
    const { contentType, format } = negotiate(ctx.req.headers.accept);
    ctx.vary('Accept');
    const context = { depositNamespace: this.#depositNamespace };
    answerDocument(ctx, contentType, render(dryRunDocument(document), format, context));
  }

  async #run(ctx: ServiceContext, { collection }: CollectionView): Promise<DryRunDocument> {
    const validator = collectionEntryValidator(ctx.state.login, this.#lookup);
    const write = await this.#checks.run({ ctx, rule: WRITES.create, collection }, validator);
    await using place = await this.#places.begin();
    const content = await write.receive({ store: place });
    assertSameRequest(write.key?.earlier, requestFingerprint(write, content));
    return {
      requestId: ctx.state.requestId,
      title: content.entry?.facts.title ?? null,
      updatedAt: clock.date().toISOString(),
      ...(await this.#verdict(content, ctx.state.login.domain, place)),
    };
  }

  async #verdict(
    { archive, entry }: ReceivedContent,
    clientDomain: string | null,
    place: DryRunStorage,
  ): Promise<Pick<DryRunDocument, 'status' | 'statusDetail'>> {
    const entries = entry ? [entry] : [];
    if (entry?.facts.reference) {
      const { warnings } = validateMetadata(entries);
      return { status: 'done', statusDetail: withWarnings('The metadata would be deposited.', warnings) };
    }
    const archives = archive
      ? [await inspectArchive(this.#places, archive, place.source(archive.sha256))]
      : [];
    const outcome = check({ entries, archives, conflicts: [], clientDomain });
    const { warnings } = outcome;
    if (outcome.verified) {
      return {
        status: 'verified',
        statusDetail: withWarnings('The deposit would pass its checks.', warnings),
      };
    }
    return { status: 'rejected', statusDetail: dryRunDetail(outcome.reasons, warnings) };
  }
}

function busy(what: string): SwordError {
  const text = `${what} are running, the maximum at the same time: try again later.`;
  return new SwordError('ServiceUnavailable', text, { headers: { 'Retry-After': '5' } });
}
