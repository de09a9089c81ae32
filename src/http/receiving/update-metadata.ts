import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { assertIdentifiedBy, assertMetadataUpdate } from '../../domain/deposit/decide-metadata.ts';
import { formatSwhid, InvalidSwhid, parseSwhid } from '../../swhid/swhid.ts';
import { entityTag } from '../../sword/headers/entity-tag.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { identifiersOf } from '../answering/answer-documents.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { notAllowed } from '../resource.ts';
import type { ServiceContext } from '../service-context.ts';
import { assertMatches } from './assert-changeable.ts';
import { type Accepted, bodyKind, parseDepositRequest } from './deposit-request.ts';
import type { DepositWrites } from './write-deposits.ts';

const ACCEPTED: Accepted = { archives: [], entry: true, untypedEntry: true };

/**
 * Adds metadata to a deposit that is done; its status stays as it is. The client shows by `X-Check-SWHID` that it
 * means this deposit.
 */
export async function updateMetadata(
  ctx: ServiceContext,
  deposit: DepositContentView,
  writes: DepositWrites,
  desk: DepositDesk,
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
  const shown = await desk.status(depositId, deposit.revision);
  if (!shown) throw notFound(`Deposit ${depositId} has been deleted.`);
  assertIdentifiedBy(swhid, depositId, identifiersOf(shown)?.refId ?? null);
  const judge = async (facts: Parameters<typeof assertMetadataUpdate>[0]): Promise<void> =>
    assertMetadataUpdate(facts, providerUrl);
  const { entry } = await writes.receive(ctx, request, bodyKind(ctx, ACCEPTED), ACCEPTED, judge);
  if (!entry) throw badRequest('The body has no metadata entry.');
  const { revision } = await writes.carryOut(ctx, deposit, () => ({
    type: 'UpdateMetadata',
    depositId,
    swhid,
    entry,
    providerUrl,
  }));
  ctx.set('ETag', entityTag(depositId, revision));
}

/** Whether the request is about what is done already. */
export function hasCheckedSwhid({ req }: ServiceContext): boolean {
  return swhidText(req.headers) !== undefined;
}

/** A widely used client spells the header with underscores. */
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
