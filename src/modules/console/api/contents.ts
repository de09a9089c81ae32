import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import type { ResolvedObject } from '../../../contents/resolver.ts';
import { deposits } from '../../../domain/aggregates.ts';
import type { ArchiveReading } from '../../../domain/deposit/events.ts';
import { untilClientGone } from '../../../http/requests/request-body.ts';
import { streamChunks } from '../../../http/responses/stream-response.ts';
import { yieldWhenStalled } from '../../../http/responses/yield-when-stalled.ts';
import { formatSwhid, type Swhid } from '../../../swhid/swhid.ts';
import { attachment } from '../../../sword/headers/content-disposition.ts';
import { swhidIn } from '../listing/deposit-query.ts';
import { objectInside } from '../listing/objects-inside.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { notFoundHere, type Route, type ViewerRequest } from '../server/route.ts';
import { sendStoredText } from './stored-text.ts';

/** Maximum number of versions of an origin in an answer. */
const MAX_VERSIONS = 100;

const DEPOSIT = '/console/api/deposits/:id';

/** Returns the routes of what is inside deposits: their files once they are loaded, else what a check found. */
export function contentRoutes(parts: ConsoleParts): readonly Route[] {
  const { depositsOf, log, objects, resolver, store } = parts;
  return [
    { method: 'GET', path: `${DEPOSIT}/manifest`, permission: 'deposits:read', answer: sendManifest },
    { method: 'GET', path: `${DEPOSIT}/versions`, permission: 'deposits:read', answer: versionsOf },
    { method: 'GET', path: `${DEPOSIT}/bytes`, permission: 'contents:read', answer: answerBytes },
    { method: 'GET', path: `${DEPOSIT}/listings`, permission: 'deposits:read', answer: listingsOf },
    { method: 'GET', path: `${DEPOSIT}/listings/:archive`, permission: 'deposits:read', answer: sendListing },
  ];

  /** Resolves to what the last check found in the archives, which may not be loaded yet. */
  async function listingsOf({ params, viewer }: ViewerRequest) {
    const { depositId } = depositsOf(viewer).existing(params['id']);
    return { depositId, readings: await readingsOf(depositId) };
  }

  async function sendListing({ ctx, params, viewer }: ViewerRequest): Promise<void> {
    const { depositId } = depositsOf(viewer).existing(params['id']);
    const found = (await readingsOf(depositId)).find(({ archive }) => archive === params['archive']);
    if (!found) throw notFoundHere('No check has read an archive with this digest.');
    await sendStoredText(ctx, store, found.listing);
  }

  /** Resolves to the readings of the last check that accepted the archives. */
  async function readingsOf(depositId: number): Promise<readonly ArchiveReading[]> {
    for await (const { type, data } of log.readStream(`${deposits.prefix}${depositId}`, { backwards: true }))
      if (type === 'DepositVerified') return data['readings'] as unknown as readonly ArchiveReading[];
    return [];
  }

  async function sendManifest({ ctx, params, viewer }: ViewerRequest): Promise<void> {
    const row = depositsOf(viewer).existing(params['id']);
    const { loaded } = await existing(row, { type: 'dir', id: row.directory ?? '', qualifiers: {} });
    await sendStoredText(ctx, store, loaded.manifest);
  }

  /** Resolves to the loaded deposits of the same origin, the newest first. */
  async function versionsOf({ params, viewer }: ViewerRequest) {
    const rows = await depositsOf(viewer).settled();
    const { origin } = rows.existing(params['id']);
    if (origin === null) return { origin, versions: [], isComplete: true };
    const order = { orderBy: 'depositId', descending: true, limit: MAX_VERSIONS + 1 };
    const found = rows.find({ index: ['origin', 'depositId'], equal: { origin }, ...order });
    const versions = found
      .slice(0, MAX_VERSIONS)
      .filter(({ directory }) => directory !== null)
      .map(({ depositId, createdAt, directory }) => ({ depositId, createdAt, directory }));
    return { origin, versions, isComplete: found.length <= MAX_VERSIONS };
  }

  /** Resolves to an object in a deposit. @throws {ConsoleRefusal} */
  async function existing(
    row: DepositSearchView,
    swhid: Swhid,
    signal?: AbortSignal,
  ): Promise<ResolvedObject> {
    const { depositId, revisionId } = row;
    if (revisionId === null) throw notFoundHere(`Deposit ${depositId} is not loaded.`);
    const found = await objectInside(row, resolver, swhid, signal);
    if (found?.deposit.depositId === depositId) return found;
    throw notFoundHere(`Deposit ${depositId} does not contain this.`);
  }

  /** Answers with the bytes of a file, or a directory as a tar; never as something that a browser shows. */
  async function answerBytes({ ctx, params, query, viewer }: ViewerRequest): Promise<void> {
    const row = depositsOf(viewer).existing(params['id']);
    const swhid = swhidIn(query.get('swhid') ?? '');
    using _watch = yieldWhenStalled(ctx.res, () => objects.isWanted(row.client));
    await untilClientGone(ctx, async (signal) => {
      const object = await existing(row, swhid, signal);
      const { place } = object;
      if (place.type !== 'cnt' && place.type !== 'dir')
        throw notFoundHere('Only files and directories have bytes.');
      const name = formatSwhid(swhid).replaceAll(':', '_');
      ctx.set('Content-Disposition', attachment(place.type === 'dir' ? `${name}.tar` : name));
      ctx.set('Content-Type', 'application/octet-stream');
      ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
      if (place.type === 'cnt') ctx.set('Content-Length', String(place.length));
      const chunks =
        place.type === 'cnt' ? objects.content(object, place, signal) : objects.tar(object, place, signal);
      if (ctx.method !== 'HEAD') return streamChunks(ctx, chunks);
      await objects.assertStored(object, place);
      await chunks.return(undefined);
      ctx.status = 200;
    });
  }
}
