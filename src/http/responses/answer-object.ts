import type { ObjectReader } from '../../contents/object-reader.ts';
import type { DepositsWithObject, Place, ResolvedObject } from '../../contents/resolver.ts';
import { escapePath } from '../../swhid/escape-path.ts';
import { formatQualifiedSwhid, formatSwhid } from '../../swhid/swhid.ts';
import { type RenderContext, render } from '../../sword/documents/document.ts';
import { type ObjectDocument, objectDocument } from '../../sword/documents/object-document.ts';
import { attachment } from '../../sword/headers/content-disposition.ts';
import { isNotModified } from '../../sword/headers/entity-tag.ts';
import { DOCUMENT_OFFERS, negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';
import { streamChunks } from './stream-response.ts';

type Format = 'xml' | 'json' | 'bytes' | 'tar';

const BYTES = { contentType: 'application/octet-stream', format: 'bytes' } as const;
const TAR = { contentType: 'application/x-tar', format: 'tar' } as const;
const OFFERS: Offers<Format> = [...DOCUMENT_OFFERS, BYTES];
export const DIRECTORY_OFFERS: Offers<Format> = [...DOCUMENT_OFFERS, TAR, BYTES];

const TYPES = { cnt: 'content', dir: 'directory', rev: 'revision', snp: 'snapshot' } as const;

/** Answers with a description of the object or its bytes, as the client prefers. */
export async function answerObject(
  ctx: ServiceContext,
  object: ResolvedObject,
  containing: DepositsWithObject,
  objects: ObjectReader,
  renderContext: RenderContext,
): Promise<void> {
  const offers = object.place.type === 'dir' ? DIRECTORY_OFFERS : OFFERS;
  const { contentType, format } = negotiateAmong(offers, ctx.req.headers.accept);
  ctx.vary('Accept');
  ctx.set('Content-Type', contentType);
  if (format === 'xml' || format === 'json') {
    const document = objectDocument(toObjectDocument(object, containing), renderContext);
    ctx.body = render(document, format, renderContext);
    ctx.set('Content-Type', contentType); // assigning a string to the body has changed it
  } else await answerBytes(ctx, object, format, objects);
}

async function answerBytes(
  ctx: ServiceContext,
  object: ResolvedObject,
  format: 'bytes' | 'tar',
  objects: ObjectReader,
): Promise<void> {
  const { place, swhid } = object;
  const name = `${formatSwhid(swhid).replaceAll(':', '_')}${format === 'tar' ? '.tar' : ''}`;
  ctx.set('ETag', `"${name}"`); // the object of an identifier never changes
  if (isNotModified(ctx.req.headers['if-none-match'], `"${name}"`)) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Disposition', attachment(name));
  if (format === 'tar' && place.type === 'dir') await stream(ctx, () => objects.tar(object, place));
  else if (place.type === 'cnt') {
    ctx.set('Content-Length', String(place.length));
    await stream(ctx, () => objects.content(object, place));
  } else ctx.body = await objects.body(object);
  ctx.set('Content-Type', format === 'tar' ? TAR.contentType : BYTES.contentType);
}

async function stream(ctx: ServiceContext, open: () => AsyncGenerator<Uint8Array>): Promise<void> {
  ctx.status = 200;
  if (ctx.method === 'HEAD') return;
  try {
    await streamChunks(ctx, open());
  } catch (error) {
    throw isBusy(error) ? busy(error) : error;
  }
}

function toObjectDocument(
  { swhid, place, loadedAt, deposit }: ResolvedObject,
  { deposits, next }: DepositsWithObject,
) {
  const { type, id, qualifiers } = swhid;
  const path = pathIn(place);
  const [lines, bytes] = [qualifiers.lines, qualifiers.bytes].map((range) =>
    range === undefined ? null : `${range.first}${range.last === undefined ? '' : `-${range.last}`}`,
  );
  const document: ObjectDocument = {
    swhid: formatSwhid(swhid),
    asked: formatQualifiedSwhid(swhid),
    objectType: TYPES[place.type],
    path: path === undefined ? null : escapePath(path),
    length: place.type === 'cnt' ? place.length : null,
    mode: place.type === 'cnt' ? place.mode : null,
    lines: lines ?? null,
    bytes: bytes ?? null,
    formats: [...(place.type === 'dir' ? [TAR.contentType] : []), BYTES.contentType],
    updatedAt: loadedAt,
    author: deposit.client,
    deposits: deposits.map(({ depositId, collection, origin, snapshot, revision }) => ({
      depositId,
      collection,
      origin,
      context: formatQualifiedSwhid({
        type,
        id,
        qualifiers: {
          origin,
          ...(type !== 'snp' && { visit: { type: 'snp', id: snapshot } }),
          ...(path !== undefined && { anchor: { type: 'rev', id: revision }, path }),
        },
      }),
    })),
    next,
  };
  return document;
}

function pathIn(place: Place): string | undefined {
  return 'path' in place ? `/${place.path}` : undefined;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'READERS_BUSY';
}

function busy(cause: unknown): SwordError {
  const summary = 'Too many contents and directories are being read at the moment: try again later.';
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '5' }, cause });
}
