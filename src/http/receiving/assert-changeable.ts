import {
  assertMatches as assertMatchesTag,
  assertNoneMatches,
  entityTag,
} from '../../sword/headers/entity-tag.ts';
import type { OwnedDeposit } from '../deposit-resource.ts';
import { notAllowed } from '../resource.ts';
import type { ServiceContext } from '../service-context.ts';

/** @throws {SwordError} 405 the deposit is not partial, 412 it is not at the revision of `If-Match`. */
export function assertChangeable(ctx: ServiceContext, deposit: OwnedDeposit): void {
  assertPartialNow(ctx, deposit);
  assertMatches(ctx, deposit);
}

/** `If-Match` and `If-None-Match`, when they were sent. */
export function assertMatches({ req: { headers } }: ServiceContext, deposit: OwnedDeposit): void {
  const tag = entityTag(deposit.depositId, deposit.revision);
  assertMatchesTag(headers['if-match'], tag);
  assertNoneMatches(headers['if-none-match'], tag);
}

/** What `If-Match` was found to match is what has to be changed: a write in between makes it 412. */
export function asMatched({ req }: ServiceContext, { revision }: OwnedDeposit): { atRevision?: number } {
  const wanted = req.headers['if-match']?.trim() ?? '*';
  return wanted === '*' ? {} : { atRevision: revision };
}

function assertPartialNow(ctx: ServiceContext, { depositId, status }: OwnedDeposit): void {
  if (status === 'partial') return;
  const summary = `Deposit ${depositId} is ${status}: it can be changed only while it is partial.`;
  throw notAllowed(ctx.method, ctx.state.allow(), summary);
}
