import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import type { Viewer } from '../access/sessions.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { notFoundHere } from '../server/route.ts';

/** Returns the row of a deposit, if the viewer may see it. @throws {ConsoleRefusal} it does not exist for the viewer */
export function visibleDeposit(
  { deposits }: Pick<ConsoleParts, 'deposits'>,
  { client }: Pick<Viewer, 'client'>,
  id = '',
): DepositSearchView {
  const row = /^[1-9]\d{0,15}$/.test(id) ? deposits.get(id) : undefined;
  if (row && (client === null || row.client === client)) return row;
  throw notFoundHere(`There is no deposit ${id}.`);
}
