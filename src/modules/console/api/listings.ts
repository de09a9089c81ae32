import type { ArchiveReading } from '../../../domain/deposit/events.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { notFoundHere, type Route } from '../server/route.ts';
import { sendStoredText } from './stored-text.ts';

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
      answer: async ({ params, viewer }) => {
        const { depositId } = depositsOf(viewer).existing(params['id']);
        return { depositId, readings: await readingsOf(depositId) };
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
        await sendStoredText(ctx, store, found.listing);
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
