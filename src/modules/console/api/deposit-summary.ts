import { deposits } from '../../../domain/aggregates.ts';
import { depositIdentifiers } from '../../../swhid/deposit-identifiers.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { notFoundHere, type Route, type ViewerRequest } from '../server/route.ts';

export function summaryRoutes({
  depositsOf,
  log,
}: Pick<ConsoleParts, 'depositsOf' | 'log'>): readonly Route[] {
  return [{ method: 'GET', path: '/console/api/deposits/:id', permission: 'deposits:read', answer: summary }];

  async function summary({ params, viewer }: ViewerRequest) {
    const id = params['id'] ?? '';
    const rows = depositsOf(viewer);
    if (viewer.scope === null && !rows.get(id) && (await exists(id)))
      return { depositId: Number(id), row: null, context: null };
    // These are for searches. Labels name staff, whom depositors do not see over SWORD either.
    const { labels: _labels, ids: _ids, words: _words, terms: _terms, ...row } = rows.existing(id);
    const { depositId, directory, revisionId, snapshot, origin } = row;
    const isLoaded = directory !== null && revisionId !== null && snapshot !== null && origin !== null;
    const loaded = isLoaded ? { directory, revision: revisionId, snapshot, origin } : null;
    return { depositId, row, context: depositIdentifiers(loaded)?.refIdContext ?? null };
  }

  /** Resolves to whether the log has a deposit; the views do not show one that was deleted. */
  async function exists(id: string): Promise<boolean> {
    if (!/^[1-9]\d{0,15}$/.test(id)) throw notFoundHere(`Deposit ${id} not found.`);
    const [first] = await Array.fromAsync(log.readStream(`${deposits.prefix}${id}`, { limit: 1 }));
    return first !== undefined;
  }
}
