import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import type { Archive, MetadataEntry } from '../../domain/deposit/events.ts';
import { withoutGarbage } from '../../garbage.ts';
import type { XmlLimits } from '../../sword/entry/xml-tree.ts';
import type { EntryTerms } from '../answering/entry-terms.ts';
import type { HttpObserver } from '../http-observer.ts';
import type { ServiceContext } from '../service-context.ts';
import {
  type Accepted,
  assertArchiveWithin,
  type BodyKind,
  type DepositRequest,
  digestsOf,
} from './deposit-request.ts';
import type { EntryJudge } from './judge-entry.ts';
import { assertDigests, promisedBytes } from './promised-bytes.ts';
import { receiveArchive } from './receive-archive.ts';
import {
  assertMd5,
  type EntryOptions,
  entryTooLarge,
  receiveEntryBytes,
  storeEntry,
  understandEntry,
} from './receive-entry.ts';
import { receiveMultipart } from './receive-multipart.ts';
import { receiveUpload } from './receive-upload.ts';
import { type Patience, requestBody } from './request-body.ts';
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

/** What every kind of body is received with. */
type Receiving = {
  readonly ctx: ServiceContext;
  readonly request: DepositRequest;
  readonly accepted: Accepted;
  readonly judge: EntryJudge;
  readonly options: ReceiveOptions & EntryOptions;
};

/**
 * Receives the body, whatever its kind. `judge` sees the facts of an entry before anything is stored and may
 * refuse it.
 */
export async function receiveContent(
  ctx: ServiceContext,
  request: DepositRequest,
  body: BodyKind,
  accepted: Accepted,
  judge: EntryJudge,
  given: ReceiveOptions,
): Promise<ReceivedContent> {
  const options = { ...given, clientDomain: ctx.state.login.domain };
  const receiving = { ctx, request, accepted, judge, options };
  switch (body.kind) {
    case 'archive':
      return { archive: await archiveAlone(receiving, body), entry: null };
    case 'entry':
      return { archive: null, entry: await entryAlone(receiving, body) };
    case 'multipart':
      return together(receiving, body);
    case 'upload':
      return { archive: await namedArchive(receiving, body), entry: null };
    default:
      return body satisfies never;
  }
}

type Kind<Name extends BodyKind['kind']> = Extract<BodyKind, { kind: Name }>;

async function archiveAlone(
  { ctx, request, accepted, options }: Receiving,
  { filename, mediaType }: Kind<'archive'>,
): Promise<Archive> {
  const { maxUploadSize, patience } = options;
  const { declaredLength: length, md5 } = request;
  assertArchiveWithin(length, maxUploadSize);
  const announced = { filename, mediaType, md5, digests: digestsOf(request), length, accepted };
  return await receiveArchive(withoutGarbage(requestBody(ctx, maxUploadSize, patience)), announced, options);
}

async function entryAlone(
  { ctx, request, judge, options }: Receiving,
  { charset }: Kind<'entry'>,
): Promise<MetadataEntry> {
  const { maxEntrySize, patience } = options;
  if ((request.declaredLength ?? 0) > maxEntrySize) throw entryTooLarge(maxEntrySize);
  const bytes = await receiveEntryBytes(ctx, maxEntrySize, patience);
  assertMd5(bytes, request.md5);
  assertDigests(bytes, digestsOf(request));
  const read = await understandEntry(bytes, charset, options);
  await judge(read.facts);
  return await storeEntry(read, options);
}

async function together(
  { ctx, request, accepted, judge, options }: Receiving,
  { mediaType }: Kind<'multipart'>,
): Promise<ReceivedContent> {
  const { maxUploadSize, maxEntrySize, patience } = options;
  const growth = mediaType.type === 'multipart/related' ? BASE64_GROWTH : 1;
  const limit = Math.ceil((maxUploadSize + maxEntrySize) * growth) + MULTIPART_OVERHEAD;
  assertArchiveWithin(request.declaredLength, limit);
  const body = promisedBytes(withoutGarbage(requestBody(ctx, limit, patience)), digestsOf(request));
  const inParts = accepted.inMultipart ?? accepted;
  return await receiveMultipart(body, mediaType, request.md5, inParts, judge, options);
}

async function namedArchive(
  { ctx, request, accepted, options }: Receiving,
  { named }: Kind<'upload'>,
): Promise<Archive> {
  const promised = { md5: request.md5, digests: request.digests.repr };
  assertDigests(NOTHING, request.digests.content); // of the body: that of the archive is Repr-Digest
  return await receiveUpload(ctx, named, promised, accepted, options);
}

const NOTHING = new Uint8Array();
