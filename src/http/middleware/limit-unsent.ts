import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** Bodies below this number of characters are not counted. */
const MIN_COUNTED = 16 * 1024;
const MAX_CHARACTERS = 64 * 1024 ** 2;
const MAX_CHARACTERS_PER_CLIENT = 8 * 1024 ** 2;

/**
 * Limits the bodies that are held in memory until their clients have read them: in total, and of one client, or of one
 * address where no login is needed. Answers 503 instead of a body beyond the limits.
 */
export function limitUnsent(): ServiceMiddleware {
  const unsent = new Map<string, number>();
  let total = 0;
  const add = (owner: string, characters: number): void => {
    total += characters;
    const left = (unsent.get(owner) ?? 0) + characters;
    if (left > 0) unsent.set(owner, left);
    else unsent.delete(owner);
  };
  return async (ctx, next) => {
    await next();
    const { body, method, res } = ctx;
    if (typeof body !== 'string' || body.length < MIN_COUNTED || method === 'HEAD' || res.closed) return;
    const owner = ownerOf(ctx);
    const ofOwner = (unsent.get(owner) ?? 0) + body.length;
    if (total + body.length > MAX_CHARACTERS || ofOwner > MAX_CHARACTERS_PER_CLIENT) throw tooMuch();
    add(owner, body.length);
    res.once('close', () => add(owner, -body.length));
  };
}

function ownerOf({ state, req }: ServiceContext): string {
  const { login }: Partial<typeof state> = state;
  return login ? `client ${login.client}` : `address ${req.socket.remoteAddress}`;
}

function tooMuch(): SwordError {
  const summary = 'Too many answers wait to be read: read those that were sent, then try again.';
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '5' } });
}
