import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { ObjectCorrupt, ObjectMissing, type ObjectStore } from '../../object-store/object-store.ts';
import { parseAcceptPackaging } from '../../sword/headers/accept-packaging.ts';
import { type ByteRange, byteRange, permitsPart } from '../../sword/headers/byte-range.ts';
import { attachment } from '../../sword/headers/content-disposition.ts';
import { digestField } from '../../sword/headers/digest-fields.ts';
import { assertMatches, entityTag, type Tagged } from '../../sword/headers/entity-tag.ts';
import { ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { BINARY, SIMPLE_ZIP } from '../../sword/namespaces.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';
import type { LongAnswers } from './long-answers.ts';
import { type AtRevision, answersNotModified } from './representation.ts';
import { streamChunks } from './stream-response.ts';

/** Where archives come from, and the limits of answers with them. */
export type Downloads = { readonly store: ObjectStore; readonly longAnswers: LongAnswers };

/** Answers with a single archive as it is, or with a zip of several, or of one if the client requires it. */
export async function answerArchives(
  ctx: ServiceContext,
  deposit: DepositContentView,
  downloads: Downloads,
): Promise<void> {
  const { depositId, archives } = deposit;
  const [first, ...more] = archives;
  if (!first) throw notFound(`Deposit ${depositId} has no archive.`);
  const wanted = parseAcceptPackaging(ctx.req.headers['accept-packaging']);
  ctx.vary('Accept-Packaging');
  const isZip = more.length > 0 || first.mediaType === ZIP_TYPE;
  ctx.set('Packaging', wanted ?? (isZip ? SIMPLE_ZIP : BINARY));
  if (more.length === 0 && (isZip || wanted !== SIMPLE_ZIP))
    await answerArchive(ctx, deposit, first, downloads);
  else if (!hasVersion(ctx, deposit, 'zip')) {
    describeAs(ctx, ZIP_TYPE, `deposit-${depositId}.zip`);
    await answerZip(ctx, archives, downloads);
  }
}

/** Answers with one archive byte for byte. */
export async function answerArchive(
  ctx: ServiceContext,
  deposit: AtRevision,
  archive: Archive,
  { store, longAnswers }: Downloads,
): Promise<void> {
  if (hasVersion(ctx, deposit)) return;
  describeAs(ctx, archive.mediaType, archive.filename);
  const digests = digestField(archive);
  const range = rangeOf(ctx, entityTag(deposit.depositId, deposit.revision), archive.length);
  ctx.set('Repr-Digest', digests);
  ctx.set('Accept-Ranges', 'bytes');
  ctx.set('Content-Length', String(range ? range.last - range.first + 1 : archive.length));
  if (ctx.method === 'HEAD') return await answerHead(ctx, [archive], store);
  await longAnswers.begin(ctx);
  const { body, length } = await store.get(archive.sha256, range?.first);
  if (length !== archive.length) {
    body.destroy();
    throw lengthMismatch(archive, length);
  }
  if (range) {
    ctx.set('Content-Range', `bytes ${range.first}-${range.last}/${length}`);
    await streamChunks(ctx, firstBytes(body, range.last - range.first + 1, archive), 206);
  } else {
    ctx.set('Content-Digest', digests);
    await streamChunks(ctx, body.iterator());
  }
}

/** Returns the part of the archive that is asked for, or `undefined` for the whole. */
function rangeOf(ctx: ServiceContext, tag: string, length: number): ByteRange | undefined {
  const { range, 'if-range': ifRange } = ctx.req.headers;
  return ctx.method === 'GET' && permitsPart(ifRange, tag) ? byteRange(range, length) : undefined;
}

/** Yields as many bytes; only their number is verified. @throws {ObjectCorrupt} there are fewer */
async function* firstBytes(body: Readable, count: number, archive: Archive): AsyncGenerator<Uint8Array> {
  let missing = count;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    yield chunk.subarray(0, missing);
    missing -= Math.min(missing, chunk.length);
    if (missing === 0) return; // which destroys the body
  }
  throw lengthMismatch(archive, archive.length - missing);
}

/**
 * Returns whether the client has the current version, and answers 304 if so.
 * @throws {SwordError} 412: the client requires another revision.
 */
function hasVersion(ctx: ServiceContext, { depositId, revision }: AtRevision, of?: Tagged): boolean {
  assertMatches(ctx.req.headers['if-match'], entityTag(depositId, revision));
  return answersNotModified(ctx, entityTag(depositId, revision, of));
}

function describeAs(ctx: ServiceContext, mediaType: string, filename: string): void {
  ctx.set('Content-Type', mediaType);
  ctx.set('Content-Disposition', attachment(filename));
}

async function answerZip(
  ctx: ServiceContext,
  archives: readonly Archive[],
  { store, longAnswers }: Downloads,
): Promise<void> {
  if (ctx.method === 'HEAD') return await answerHead(ctx, archives, store);
  await longAnswers.begin(ctx);
  await assertStored(archives, store); // the zip begins before its first archive is read
  await streamChunks(ctx, zipOf(archives, store));
}

/** Answers without the bytes, with the error that a GET would get if the store lacks any. */
async function answerHead(
  ctx: ServiceContext,
  archives: readonly Archive[],
  store: ObjectStore,
): Promise<void> {
  await assertStored(archives, store);
  ctx.status = 200;
}

/** Asserts that the store has the archives in full length. @throws {ObjectMissing} @throws {ObjectCorrupt} */
async function assertStored(archives: readonly Archive[], store: ObjectStore): Promise<void> {
  for (const archive of archives) {
    const found = await store.stat(archive.sha256);
    if (!found) throw new ObjectMissing(archive.sha256);
    if (found.length !== archive.length) throw lengthMismatch(archive, found.length);
  }
}

/**
 * Builds the error for an object of the wrong length. It is thrown before anything is sent: surplus bytes would be
 * parsed as the next response on the connection.
 */
function lengthMismatch({ sha256, length }: Archive, found: number): ObjectCorrupt {
  return new ObjectCorrupt(sha256, `they are ${found} bytes, not ${length}`);
}

/**
 * Zips archives from the store. `ZipFile` neither notices errors of its inputs nor closes them when the output is
 * abandoned, so both are done here.
 */
async function* zipOf(archives: readonly Archive[], store: ObjectStore): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error as Error));
  const bodies = new Set<Readable>();
  const openBody = async (sha256: string): Promise<Readable> => {
    const { body } = await store.get(sha256);
    bodies.add(body.once('error', (error) => output.destroy(error)));
    if (output.destroyed) body.destroy();
    return body;
  };
  const names = new Set<string>();
  for (const { sha256, filename, length } of archives) {
    // Stored, not deflated: archives are compressed already. Each is opened only when the zip reaches it.
    zip.addReadStreamLazy(uniqueName(filename, names), { compress: false, size: length }, (begin) => {
      openBody(sha256).then(
        (body) => begin(null, body),
        (error: unknown) => begin(error as Error, null as never),
      );
    });
  }
  zip.end();
  try {
    yield* output;
  } finally {
    output.destroy();
    for (const body of bodies) body.destroy();
  }
}

/** Maximum bytes of a name that file systems accept. */
const MAX_NAME_BYTES = 255;

/**
 * Returns a name that is unique in the zip, with a number in front if necessary, and cut at its end if that makes it too
 * long for file systems. None may look like a drive.
 */
function uniqueName(filename: string, taken: Set<string>): string {
  const safeName = filename.replace(/^([a-z]):/i, '$1_');
  let name = safeName;
  for (let number = 2; taken.has(name); number += 1) name = cut(`${number}-${safeName}`);
  taken.add(name);
  return name;
}

/** Cuts a name between two characters. */
function cut(name: string): string {
  const start = Buffer.from(name).subarray(0, MAX_NAME_BYTES);
  return new TextDecoder().decode(start, { stream: true }); // omits a part of a character at the end
}
