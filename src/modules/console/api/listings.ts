import { text } from 'node:stream/consumers';
import type { ArchiveReading } from '../../../domain/deposit/events.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, notFoundHere, type Route } from '../server/route.ts';

/** Maximum bytes of a listing in an answer. */
const MAX_LISTING_BYTES = 4 * 1024 ** 2;

/** Returns the routes of what the last check found in the archives of a deposit, which may not be loaded yet. */
export function listingRoutes({
  depositsOf,
  log,
  store,
}: Pick<ConsoleParts, 'depositsOf' | 'log' | 'store'>): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/deposits/:id/listings',
      permission: 'deposits:read',
      answer: async ({ ctx, params, viewer }) => {
        const { depositId } = depositsOf(viewer).existing(params['id']);
        ctx.body = { depositId, readings: await readingsOf(depositId) };
      },
    },
    {
      method: 'GET',
      path: '/console/api/deposits/:id/listings/:archive',
      permission: 'deposits:read',
      answer: async ({ ctx, params, viewer }) => {
        const { depositId } = depositsOf(viewer).existing(params['id']);
        const found = (await readingsOf(depositId)).find(({ archive }) => archive === params['archive']);
        if (!found) throw notFoundHere('No check has read an archive with this digest.');
        const length = (await store.stat(found.listing))?.length ?? 0;
        if (length > MAX_LISTING_BYTES)
          throw new ConsoleRefusal(
            413,
            'TOO_LARGE',
            `The listing has ${length} bytes: too many for a browser.`,
          );
        ctx.body = await text((await store.get(found.listing)).body); // at once: its last bytes prove the others
        ctx.type = 'text/plain; charset=utf-8';
      },
    },
  ];

  /** Resolves to the readings of the last check that accepted the archives. */
  async function readingsOf(depositId: number): Promise<readonly ArchiveReading[]> {
    for await (const { type, data } of log.readStream(`deposit-${depositId}`, { backwards: true }))
      if (type === 'DepositVerified') return data['readings'] as unknown as readonly ArchiveReading[];
    return [];
  }
}
