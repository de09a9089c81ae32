import type { Context } from 'koa';
import { badRequest, quoted } from '../../sword/sword-error.ts';

/** Returns whether the query has `dry-run=true`. @throws {SwordError} 400: the value is neither true nor false. */
export function isDryRun({ query }: Context): boolean {
  const value = query['dry-run'];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw badRequest(`dry-run=${quoted(String(value))} is neither true nor false.`);
}

/** Refuses a write that asks for a dry run: it must never be executed, since a completion cannot be undone. */
export function assertNoDryRun(ctx: Context): void {
  if (['GET', 'HEAD', 'OPTIONS'].includes(ctx.method) || !isDryRun(ctx)) return;
  throw badRequest(
    'A dry run is possible of a new deposit only: POST it to its collection with dry-run=true.',
  );
}
