import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { updateMetadata } from '../../deposits/change.ts';
import type { Written } from '../../deposits/client-write.ts';
import { formatSwhid, InvalidSwhid, parseSwhid } from '../../swhid/swhid.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import type { WriteParts } from '../handler-parts.ts';
import { WRITES } from '../requests/writes-by-iri.ts';
import type { ServiceContext } from '../service-context.ts';

/** Adds metadata to a deposit that is done, without changing its status. `X-Check-SWHID` must identify it. */
export async function update(
  { checkWrite, deposits }: WriteParts,
  ctx: ServiceContext,
  deposit: DepositContentView,
): Promise<Written> {
  const swhid = checkedSwhid(ctx);
  const { collection, depositId } = deposit;
  const write = await checkWrite({ ctx, rule: WRITES.updateMetadata, collection, deposit, swhid });
  return updateMetadata(deposits, depositId, write, swhid);
}

function checkedSwhid(ctx: ServiceContext): string {
  try {
    return formatSwhid(parseSwhid(swhidText(ctx) ?? ''));
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`X-Check-SWHID: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the header's text; a widely used client spells it with underscores.
 * @throws {SwordError} 400: the two spellings differ.
 */
export function swhidText({ req: { headers } }: ServiceContext): string | undefined {
  const [usual, underscored] = [headers['x-check-swhid'], headers['x_check_swhid']].map(headerText);
  if (usual !== undefined && underscored !== undefined && usual !== underscored)
    throw badRequest(`X-Check-SWHID was sent twice, with ${quoted(usual)} and ${quoted(underscored)}.`);
  return usual ?? underscored;
}
