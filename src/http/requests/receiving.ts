import type { ReceivedContent } from '../../deposits/client-write.ts';
import type { IdempotencyRecord } from '../../deposits/idempotency/idempotency-store.ts';
import type { EntryFacts, MetadataTarget } from '../../domain/deposit/events.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { Digests } from '../../sword/headers/digest-fields.ts';
import type { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import type { HttpObserver } from '../http-observer.ts';
import type { HttpSettings } from '../http-settings.ts';
import type { DublinCoreCache } from '../responses/dublin-core-cache.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Accepted, BodyKind, DepositRequest } from './deposit-request.ts';

/** The settings and parts of a node that receive bodies. */
export type ReceivingParts = HttpSettings & {
  readonly store: Pick<ObjectStore, 'put'>;
  readonly entryTurns: Pick<FairSemaphore, 'acquire'>;
  readonly terms: DublinCoreCache;
  readonly observer: HttpObserver;
  /** Where archives that are named in place of a body come from; `undefined` if none can be named. */
  readonly archiveSource: ArchiveSource | undefined;
};

/** A write whose body is to be received. */
export type IncomingWrite = {
  readonly ctx: ServiceContext;
  readonly request: DepositRequest;
  readonly body: BodyKind;
  readonly accepted: Accepted;
  /** Resolves to the earlier request with the same key, if it has been executed. */
  readonly executed: () => Promise<IdempotencyRecord | undefined>;
  /**
   * Sees the facts of an entry, or `null` if the body has none, before anything is stored, and may refuse it. Resolves to
   * what it refers to, if it does.
   */
  readonly validateEntry: (facts: EntryFacts | null) => Promise<MetadataTarget | undefined>;
  readonly parts: ReceivingParts;
};

/** Facts of an archive that are known before its bytes arrive. */
export type AnnouncedArchive = {
  readonly filename: string;
  /** Media type as the client declared it. */
  readonly mediaType: string;
  readonly md5: string | null;
  readonly digests: Digests;
  /** Exact number of bytes, if declared. */
  readonly length: number | null;
  /** Bodies that the target of the request accepts. */
  readonly accepted: Accepted;
};

/** An archive that a request names in place of a body. */
export type NamedArchive = Pick<AnnouncedArchive, 'md5' | 'digests' | 'accepted'> &
  Pick<IncomingWrite, 'executed'> & {
    /** Its IRI or id, as the client wrote it. */
    readonly named: string;
  };

/**
 * Stores the archive that a request names in place of a body. No other request can name it until this one is answered.
 * @throws {SwordError} 400, 404, 409, 415
 */
export type ArchiveSource = (
  ctx: ServiceContext,
  archive: NamedArchive,
  parts: ReceivingParts,
) => Promise<ReceivedContent>;
