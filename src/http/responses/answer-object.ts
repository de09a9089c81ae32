import type { ObjectReader } from '../../contents/object-reader.ts';
import type { DepositsWithObject, Place, ResolvedObject } from '../../contents/resolver.ts';
import { escapePath } from '../../swhid/escape-path.ts';
import { formatQualifiedSwhid, formatSwhid } from '../../swhid/swhid.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { type ObjectDocument, objectDocument } from '../../sword/documents/object-document.ts';
import { render } from '../../sword/documents/render.ts';
import { DOCUMENT_OFFERS, negotiate, type Offers } from '../../sword/headers/accept.ts';
import { attachment } from '../../sword/headers/content-disposition.ts';
import { assertMatches } from '../../sword/headers/entity-tag.ts';
import { untilClientGone } from '../requests/request-body.ts';
import type { ServiceContext } from '../service-context.ts';
import { answerDocument, answersNotModified } from './representation.ts';
import { streamChunks } from './stream-response.ts';
import { yieldWhenStalled } from './yield-when-stalled.ts';

type Format = 'xml' | 'json' | 'html' | 'bytes' | 'tar';

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
  const { contentType, format } = negotiate(offers, ctx.req.headers.accept);
  ctx.vary('Accept');
  ctx.set('Content-Type', contentType);
  if (format !== 'bytes' && format !== 'tar') {
    const document = objectDocument(toObjectDocument(object, containing), renderContext);
    answerDocument(ctx, contentType, render(document, format, renderContext));
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
  const tag = `"${name}"`; // the object of an identifier never changes
  assertMatches(ctx.req.headers['if-match'], tag, 'object');
  if (answersNotModified(ctx, tag)) return;
  ctx.set('Content-Disposition', attachment(name));
  if (!('path' in place)) {
    ctx.body = objects.small(object);
    return;
  }
  const setLength = (bytes: number) => ctx.set('Content-Length', String(bytes));
  if (place.type === 'cnt') setLength(place.length);
  using _watch = yieldWhenStalled(ctx.res, () => objects.isWanted(object.deposit.client));
  await untilClientGone(ctx, async (signal) => {
    const chunks =
      place.type === 'cnt'
        ? objects.content(object, place, signal)
        : format === 'tar'
          ? objects.tar(object, place, signal)
          : objects.directory(object, place, signal, setLength);
    if (ctx.method !== 'HEAD') return streamChunks(ctx, chunks);
    if (place.type === 'dir' && format === 'bytes')
      await chunks.next(); // the length comes before the first chunk
    else await objects.assertStored(object, place);
    await chunks.return(undefined);
    ctx.status = 200;
  });
}

function toObjectDocument(
  { swhid, place, loadedAt, deposit }: ResolvedObject,
  { deposits, below, next }: DepositsWithObject,
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
    client: deposit.client,
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
    below,
    next,
  };
  return document;
}

function pathIn(place: Place): string | undefined {
  return 'path' in place ? `/${place.path}` : undefined;
}
