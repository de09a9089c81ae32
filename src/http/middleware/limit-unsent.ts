import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { addressOf } from './credentials.ts';
import { networkOf } from './login-attempts.ts';

/** Bodies below this number of characters are not counted. */
const MIN_COUNTED = 16 * 1024;
const MAX_CHARACTERS = 64 * 1024 ** 2;
const MAX_CHARACTERS_PER_CLIENT = 8 * 1024 ** 2;
/** Characters of all bodies that need no login: readers that read none of them leave the rest to clients. */
const MAX_CHARACTERS_WITHOUT_LOGIN = 16 * 1024 ** 2;

/**
 * Limits the bodies that are held in memory until their clients have read them: in total, and of one client, or of one
 * network where no login is needed. Answers 503 to a GET whose body would exceed the limits. The body of a write counts,
 * but is always sent: the write was executed, and a client that gets 503 would repeat it.
 */
export function limitUnsent(trustProxy: boolean): ServiceMiddleware {
  const unsent = new Map<string, number>();
  let [total, withoutLogin] = [0, 0];
  const add = (owner: string, isLoggedIn: boolean, characters: number): void => {
    total += characters;
    if (!isLoggedIn) withoutLogin += characters;
    const left = (unsent.get(owner) ?? 0) + characters;
    if (left > 0) unsent.set(owner, left);
    else unsent.delete(owner);
  };
  return async (ctx, next) => {
    await next();
    const { body, method, res } = ctx;
    if (typeof body !== 'string' || body.length < MIN_COUNTED || method === 'HEAD' || res.closed) return;
    const { login }: Partial<typeof ctx.state> = ctx.state;
    const owner = login ? `client ${login.client}` : `network ${networkOf(addressOf(ctx, trustProxy))}`;
    const ofOwner = (unsent.get(owner) ?? 0) + body.length;
    const isTooMuch =
      total + body.length > MAX_CHARACTERS ||
      ofOwner > MAX_CHARACTERS_PER_CLIENT ||
      (!login && withoutLogin + body.length > MAX_CHARACTERS_WITHOUT_LOGIN);
    if (isTooMuch && method === 'GET') throw tooMuch();
    add(owner, login !== undefined, body.length);
    res.once('close', () => add(owner, login !== undefined, -body.length));
  };
}

function tooMuch(): SwordError {
  const summary = 'Too many answers wait to be read: read those that were sent, then try again.';
  return retryAfter('ServiceUnavailable', summary, 5);
}
