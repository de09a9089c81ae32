import {
  assertMatches as assertMatchesTag,
  assertNoneMatches,
  entityTag,
} from '../../sword/headers/entity-tag.ts';
import type { OwnedDeposit } from '../iris/deposit-resource.ts';
import { notAllowed } from '../iris/resource.ts';
import type { ServiceContext } from '../service-context.ts';

/**
 * Asserts that the deposit may be changed.
 * @throws {SwordError} 405: it is not partial; 412: it is not at the revision of `If-Match`.
 */
export function assertChangeable(ctx: ServiceContext, deposit: OwnedDeposit): void {
  assertPartialNow(ctx, deposit);
  assertMatches(ctx, deposit);
}

/** Evaluates `If-Match` and `If-None-Match`, if sent. */
export function assertMatches({ req: { headers } }: ServiceContext, deposit: OwnedDeposit): void {
  const tag = entityTag(deposit.depositId, deposit.revision);
  assertMatchesTag(headers['if-match'], tag);
  assertNoneMatches(headers['if-none-match'], tag);
}

/** Returns the revision that `If-Match` matched, which the write must expect: another write in between causes 412. */
export function asMatched({ req }: ServiceContext, { revision }: OwnedDeposit): { atRevision?: number } {
  const wanted = req.headers['if-match']?.trim() ?? '*';
  return wanted === '*' ? {} : { atRevision: revision };
}

function assertPartialNow(ctx: ServiceContext, { depositId, status }: OwnedDeposit): void {
  if (status === 'partial') return;
  const summary = `Deposit ${depositId} is ${status}: it can be changed only while it is partial.`;
  throw notAllowed(ctx.method, ctx.state.allow(), summary);
}
