import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import { assertIdentifiedBy, assertMetadataUpdate } from '../../domain/deposit/metadata/decide-metadata.ts';
import { formatSwhid, InvalidSwhid, parseSwhid } from '../../swhid/swhid.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { notAllowed } from '../iris/resource.ts';
import { type Accepted, bodyKind, parseDepositRequest } from '../requests/deposit-request.ts';
import { assertMatches } from '../requests/preconditions.ts';
import { identifiersOf } from '../responses/answer-documents.ts';
import type { ServiceContext } from '../service-context.ts';
import type { DepositWrites } from './deposit-writes.ts';

const ACCEPTED: Accepted = { archives: [], entry: true, untypedEntry: true };

/** Adds metadata to a deposit that is done, without changing its status. `X-Check-SWHID` must identify the deposit. */
export async function updateMetadata(
  ctx: ServiceContext,
  deposit: DepositContentView,
  writes: DepositWrites,
  depositService: DepositService,
): Promise<void> {
  const swhid = checkedSwhid(ctx);
  const request = parseDepositRequest(ctx);
  const { depositId, status } = deposit;
  const { providerUrl } = ctx.state.login;
  if (status === 'partial') assertIdentifiedBy(swhid, depositId, null);
  if (status !== 'done') {
    const text = `Deposit ${depositId} is ${status}: metadata can be added by its identifier only once it is done.`;
    throw notAllowed(ctx.method, ctx.state.allow(), text);
  }
  assertMatches(ctx, deposit);
  const current = await depositService.status(depositId, deposit.revision);
  if (!current) throw notFound(`Deposit ${depositId} has been deleted.`);
  assertIdentifiedBy(swhid, depositId, identifiersOf(current)?.refId ?? null);
  const validate = async (facts: Parameters<typeof assertMetadataUpdate>[0]): Promise<void> =>
    assertMetadataUpdate(facts, providerUrl);
  const { entry } = await writes.receive(ctx, request, bodyKind(ctx, ACCEPTED), ACCEPTED, validate);
  if (!entry) throw badRequest('The body has no metadata entry.');
  const { revision } = await writes.execute(ctx, deposit, () => ({
    type: 'UpdateMetadata',
    depositId,
    swhid,
    entry,
    providerUrl,
  }));
  ctx.set('ETag', entityTag(depositId, revision));
}

/** Returns whether the request has `X-Check-SWHID`: it is about a completed deposit. */
export function hasCheckedSwhid({ req }: ServiceContext): boolean {
  return swhidText(req.headers) !== undefined;
}

/** Returns the header's text; a widely used client spells it with underscores. */
function swhidText(headers: ServiceContext['req']['headers']): string | undefined {
  return headerText(headers['x-check-swhid'] ?? headers['x_check_swhid']);
}

function checkedSwhid({ req }: ServiceContext): string {
  const text = swhidText(req.headers) ?? '';
  try {
    return formatSwhid(parseSwhid(text));
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`X-Check-SWHID: ${error.message}`);
    throw error;
  }
}
