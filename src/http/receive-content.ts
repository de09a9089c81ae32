import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { Archive, EntryFacts, MetadataEntry } from '../domain/deposit/events.ts';
import { withoutGarbage } from '../garbage.ts';
import { bothDigests } from '../sword/digest-fields.ts';
import type { XmlLimits } from '../sword/xml-tree.ts';
import {
  type Accepted,
  assertDeclaredWithin,
  type BodyKind,
  type DepositRequest,
} from './deposit-request.ts';
import type { EntryTerms } from './entry-terms.ts';
import type { HttpObserver } from './http-observer.ts';
import { assertDigests, promisedBytes } from './promised-bytes.ts';
import { receiveArchive } from './receive-archive.ts';
import { assertMd5, entryTooLarge, receiveEntryBytes, storeEntry, understandEntry } from './receive-entry.ts';
import { receiveMultipart } from './receive-multipart.ts';
import { receiveUpload } from './receive-upload.ts';
import { type Patience, requestBody } from './request-body.ts';
import type { ServiceContext } from './service-context.ts';
import type { NameableUploads } from './upload-in-use.ts';

/** What came with a request, stored and durable. */
export type ReceivedContent = { readonly archive: Archive | null; readonly entry: MetadataEntry | null };

export type ReceiveOptions = {
  readonly store: Pick<ArchiveStore, 'put'>;
  readonly maxUploadSize: number;
  readonly maxEntrySize: number;
  /** Of one multipart body. */
  readonly maxParts: number;
  readonly xmlLimits: XmlLimits;
  readonly patience: Patience;
  readonly depositNamespace: string;
  /** What is told of entries afterwards. */
  readonly terms: EntryTerms;
  readonly observer: HttpObserver;
  /** What can be named in place of a body; `undefined`: nothing. */
  readonly nameable: NameableUploads | undefined;
};

/** Bytes that a multipart body may have beside its archive and its entry. */
const MULTIPART_OVERHEAD = 256 * 1024;
/** How much longer base64 makes what SWORD 2.0 sends, line breaks included. */
const BASE64_GROWTH = 78 / 57;

/**
 * Receives the body, whatever its kind. `judge` sees the facts of an entry before anything is stored and may
 * refuse it.
 */
export async function receiveContent(
  ctx: ServiceContext,
  request: DepositRequest,
  body: BodyKind,
  accepted: Accepted,
  judge: (facts: EntryFacts) => Promise<void>,
  given: ReceiveOptions,
): Promise<ReceivedContent> {
  const options = { ...given, clientDomain: ctx.state.login.domain };
  const { maxUploadSize, maxEntrySize, patience } = options;
  const { declaredLength, md5 } = request;
  const { content, repr } = request.digests;
  switch (body.kind) {
    case 'archive': {
      assertDeclaredWithin(declaredLength, maxUploadSize);
      const { filename, mediaType } = body;
      const digests = bothDigests(content, repr);
      const announced = { filename, mediaType, md5, digests, length: declaredLength, accepted };
      const archive = await receiveArchive(
        withoutGarbage(requestBody(ctx, maxUploadSize, patience)),
        announced,
        options,
      );
      return { archive, entry: null };
    }
    case 'entry': {
      if ((declaredLength ?? 0) > maxEntrySize) throw entryTooLarge(maxEntrySize);
      const bytes = await receiveEntryBytes(ctx, maxEntrySize, patience);
      assertMd5(bytes, md5);
      assertDigests(bytes, bothDigests(content, repr));
      const read = await understandEntry(bytes, body.charset, options);
      await judge(read.facts);
      return { archive: null, entry: await storeEntry(read, options) };
    }
    case 'multipart': {
      const growth = body.mediaType.type === 'multipart/related' ? BASE64_GROWTH : 1;
      const limit = Math.ceil((maxUploadSize + maxEntrySize) * growth) + MULTIPART_OVERHEAD;
      assertDeclaredWithin(declaredLength, limit);
      return receiveMultipart(
        promisedBytes(withoutGarbage(requestBody(ctx, limit, patience)), bothDigests(content, repr)),
        body.mediaType,
        md5,
        accepted.inMultipart ?? accepted,
        judge,
        options,
      );
    }
    case 'upload': {
      const archive = await receiveUpload(ctx, body.named, { md5, digests: repr }, accepted, options);
      return { archive, entry: null };
    }
    default:
      return body satisfies never;
  }
}
