import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { type ArchiveStore, ObjectCorrupt, ObjectMissing } from '../../archive-store/archive-store.ts';
import type { Archive } from '../../domain/deposit/events.ts';
import { parseAcceptPackaging } from '../../sword/headers/accept-packaging.ts';
import { attachment } from '../../sword/headers/content-disposition.ts';
import { digestField } from '../../sword/headers/digest-fields.ts';
import { entityTag, isNotModified, type Made } from '../../sword/headers/entity-tag.ts';
import { ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { BINARY, SIMPLE_ZIP } from '../../sword/namespaces.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';
import type { AtRevision } from './choose-representation.ts';
import { sendPieces } from './send-pieces.ts';

/** The one archive byte for byte, or a zip of several; of one alone, too, when only a zip will do. */
export async function answerArchives(
  ctx: ServiceContext,
  deposit: DepositContentView,
  store: ArchiveStore,
): Promise<void> {
  const { depositId, archives } = deposit;
  const [first, ...more] = archives;
  if (!first) throw notFound(`Deposit ${depositId} has no archive.`);
  const wanted = parseAcceptPackaging(ctx.req.headers['accept-packaging']);
  ctx.vary('Accept-Packaging');
  const isZip = more.length > 0 || first.mediaType === ZIP_TYPE;
  ctx.set('Packaging', wanted ?? (isZip ? SIMPLE_ZIP : BINARY));
  if (more.length === 0 && (isZip || wanted !== SIMPLE_ZIP)) await answerArchive(ctx, deposit, first, store);
  else if (!isHeld(ctx, deposit, 'zip')) {
    describeAs(ctx, ZIP_TYPE, `deposit-${depositId}.zip`);
    await answerZip(ctx, archives, store);
  }
}

/** One archive byte for byte. */
export async function answerArchive(
  ctx: ServiceContext,
  deposit: AtRevision,
  archive: Archive,
  store: ArchiveStore,
): Promise<void> {
  if (isHeld(ctx, deposit)) return;
  describeAs(ctx, archive.mediaType, archive.filename);
  const digests = digestField(archive);
  ctx.set('Repr-Digest', digests);
  ctx.set('Content-Length', String(archive.length));
  if (ctx.method === 'HEAD') return answerHead(ctx);
  const { body, length } = await store.get(archive.sha256);
  if (length !== archive.length) {
    body.destroy();
    throw otherLength(archive, length);
  }
  ctx.set('Content-Digest', digests);
  await sendPieces(ctx, body.iterator());
}

/** Whether the client holds it already, and has been told so. */
function isHeld(ctx: ServiceContext, { depositId, revision }: AtRevision, made?: Made): boolean {
  const tag = entityTag(depositId, revision, made);
  ctx.set('ETag', tag);
  if (!isNotModified(ctx.req.headers['if-none-match'], tag)) return false;
  ctx.status = 304;
  return true;
}

function describeAs(ctx: ServiceContext, mediaType: string, filename: string): void {
  ctx.set('Content-Type', mediaType);
  ctx.set('Content-Disposition', attachment(filename));
}

async function answerZip(
  ctx: ServiceContext,
  archives: readonly Archive[],
  store: ArchiveStore,
): Promise<void> {
  if (ctx.method === 'HEAD') return answerHead(ctx);
  for (const archive of archives) await assertThere(archive, store); // the zip itself begins before its first archive
  await sendPieces(ctx, zipOf(archives, store));
}

/** @throws {ObjectMissing} @throws {ObjectCorrupt} */
async function assertThere(archive: Archive, store: ArchiveStore): Promise<void> {
  const found = await store.stat(archive.sha256);
  if (!found) throw new ObjectMissing(archive.sha256);
  if (found.length !== archive.length) throw otherLength(archive, found.length);
}

/** Told before anything is sent: what is too long would be taken for the next answer on the connection. */
function otherLength({ sha256, length }: Archive, found: number): ObjectCorrupt {
  return new ObjectCorrupt(sha256, `they are ${found} bytes, not ${length}`);
}

/** The zip neither hears of a fault in what it packs, nor lets go of it when nobody wants the rest. */
async function* zipOf(archives: readonly Archive[], store: ArchiveStore): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error) => output.destroy(error as Error));
  const bodies = new Set<Readable>();
  const opened = async (sha256: string): Promise<Readable> => {
    const { body } = await store.get(sha256);
    bodies.add(body.once('error', (error) => output.destroy(error)));
    if (output.destroyed) body.destroy();
    return body;
  };
  const names = new Set<string>();
  for (const { sha256, filename, length } of archives) {
    // Stored, not deflated: archives are compressed already. Opened only when its turn comes.
    zip.addReadStreamLazy(distinct(filename, names), { compress: false, size: length }, (begin) => {
      opened(sha256).then(
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

function answerHead(ctx: ServiceContext): void {
  ctx.status = 200;
}

/** Two archives of one name are told apart in the zip by a number in front; none may look like a drive. */
function distinct(filename: string, taken: Set<string>): string {
  const harmless = filename.replace(/^([a-z]):/i, '$1_');
  let name = harmless;
  for (let number = 2; taken.has(name); number += 1) name = `${number}-${harmless}`;
  taken.add(name);
  return name;
}
