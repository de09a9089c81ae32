import { hash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { ClientLogin } from '../../../projections/client-logins.ts';
import type { Credential } from '../../domain/client/client.ts';
import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import {
  credentialOf,
  dummyCredential,
  matches,
  needsRehash,
  PASSWORD_COST,
  type PasswordCost,
} from '../../tools/cryptography/password.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import { random } from '../../tools/random.ts';
import type { View } from '../../views/view.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { type BasicCredentials, parseBasic } from './basic-credentials.ts';
import { LoginAttempts, networkOf, withoutPort } from './login-attempts.ts';
import { refuseOtherOrigins } from './refuse-other-origins.ts';

/** Stores a new digest of the password of a login. Never rejects. */
export type RenewPassword = (login: ClientLogin, credential: Credential) => Promise<void>;

type CredentialsOptions = {
  readonly cost?: PasswordCost;
  readonly onFailed?: (name: string, address: string) => void;
};

type Verified = Pick<ClientLogin, 'client' | 'credentialRevision'>;

/** The last verified header of a connection, as it was sent, and the address that it came from. */
type Latest = {
  readonly authorization: string | undefined;
  readonly address: string;
  readonly verified: Verified;
};

/** A verified header, and the addresses that it came from, in the order of their first use. */
type Cached = Verified & { readonly addresses: Set<string> };

/** Maximum number of verified headers in the cache; the LRU guarantees at least half as many. */
const MAX_CACHED = 20_000;
/** Maximum number of addresses that are remembered of a verified header. */
const MAX_ADDRESSES = 32;
/**
 * Maximum number of concurrent scrypt runs. Each takes a core and a thread of the pool that file access also needs, so
 * one of two is left free.
 */
const MAX_CONCURRENT = availableParallelism() > 2 ? 2 : 1;
const MAX_WAITING = 32;

/**
 * Verifies `Authorization` headers and finds their clients. A verified header is cached under a keyed hash, so that
 * later requests cost no scrypt, and not even the hash on the same connection. An address that guesses learns nothing
 * from that: there, a header that did not come from it before is not looked up. A changed password or a disabled client
 * takes effect immediately.
 */
export class Credentials {
  readonly #logins: Pick<View<ClientLogin>, 'get'>;
  readonly #renew: RenewPassword;
  readonly #cost: PasswordCost;
  readonly #unknown: Credential;
  readonly #onFailed: (name: string, address: string) => void;
  readonly #attempts = new LoginAttempts();
  /** Key of the hash: 144 bits, kept short since every request hashes it. */
  readonly #key = random.bytes(18).toString('base64');
  readonly #verified = new LruCache<Cached>(MAX_CACHED);
  readonly #latest = new WeakMap<object, Latest>();
  readonly #verifying = new Map<string, Promise<boolean>>();
  #refused = 0;
  /** Permits of verifications, by network: guessing clients delay only their own network. */
  readonly #permits = new FairSemaphore({
    limit: MAX_CONCURRENT,
    waiting: MAX_WAITING,
    refuse: tooManyLogins,
  });

  /** `cost`: of the digests of passwords. `onFailed` gets the name and the address of each failed login. */
  constructor(
    logins: Pick<View<ClientLogin>, 'get'>,
    renew: RenewPassword,
    { cost = PASSWORD_COST, onFailed = () => undefined }: CredentialsOptions = {},
  ) {
    this.#logins = logins;
    this.#renew = renew;
    this.#cost = cost;
    this.#unknown = dummyCredential(cost);
    this.#onFailed = onFailed;
  }

  /** Number of passwords that wait to be verified. */
  get waiting(): number {
    return this.#permits.waiting;
  }

  /** Number of requests since the start that were refused because of failed logins from their address. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Returns the login of the header.
   * @param connection the socket of the request
   * @throws {SwordError} 401, equal for unknown name and wrong password; 429; 503
   */
  async verify(
    authorization: string | undefined,
    address: string,
    connection?: object,
  ): Promise<ClientLogin> {
    const cached = this.cachedLogin(authorization, address, connection);
    if (cached) return cached;
    const sent = parseBasic(authorization);
    if (!sent) throw unauthorized(authorization !== undefined);
    const fingerprint = this.#fingerprintOf(sent);
    this.#refuseGuessing(address);
    const login = this.#logins.get(sent.name);
    const known = login && !login.disabled ? login : undefined;
    const right = await this.#verifyOnce(fingerprint, sent.password, known, address);
    if (!right || !known) {
      this.#attempts.failed(address);
      this.#onFailed(sent.name, address);
      throw unauthorized();
    }
    const { client, credentialRevision } = known;
    this.#verified.set(fingerprint, {
      client,
      credentialRevision,
      addresses: new Set([withoutPort(address)]),
    });
    return known;
  }

  /**
   * Returns the login of a header that is already verified, without waiting. Returns `undefined` when the header is not
   * cached, may not be looked up from this address, or its login has changed.
   */
  cachedLogin(
    authorization: string | undefined,
    address: string,
    connection?: object,
  ): ClientLogin | undefined {
    const latest = connection && this.#latest.get(connection);
    const isLatest = latest?.address === address && latest.authorization === authorization;
    const login = isLatest && this.currentLogin(latest.verified);
    if (login) return login;
    const verified = this.#cached(authorization, address);
    if (verified && connection) this.#latest.set(connection, { authorization, address, verified });
    return verified && this.currentLogin(verified);
  }

  /** Returns the current login; `undefined` if since the check the password changed or the client was disabled. */
  currentLogin({ client, credentialRevision }: Verified): ClientLogin | undefined {
    const login = this.#logins.get(client);
    return login?.disabled === false && login.credentialRevision === credentialRevision ? login : undefined;
  }

  /** Returns the collections that are granted to a client now; none if the client is unknown or disabled. */
  collectionsOf(client: string): readonly string[] {
    const login = this.#logins.get(client);
    return login && !login.disabled ? login.collections : [];
  }

  #cached(authorization: string | undefined, address: string): Verified | undefined {
    const sent = parseBasic(authorization);
    const verified = sent && this.#verified.get(this.#fingerprintOf(sent));
    if (!verified) return undefined;
    const { addresses } = verified;
    const host = withoutPort(address);
    if (!addresses.has(host)) {
      if (!this.#attempts.mayBegin(host)) return undefined;
      addresses.add(host);
      const [oldest] = addresses;
      if (addresses.size > MAX_ADDRESSES && oldest !== undefined) addresses.delete(oldest);
    }
    return verified;
  }

  /** Returns the same text for all spellings of the header, so that a password costs one scrypt run. */
  #fingerprintOf({ name, password }: BasicCredentials): string {
    return hash('sha256', `${this.#key}${name}:${password.normalize('NFC')}`, 'base64');
  }

  #refuseGuessing(address: string): void {
    if (this.#attempts.mayTry(address)) return;
    this.#refused += 1;
    const text = 'Too many failed logins from your address: try again in a second.';
    throw retryAfter('TooManyRequests', text, 1);
  }

  /** Verifies a password; concurrent requests with the same header share one scrypt run. */
  #verifyOnce(
    fingerprint: string,
    password: string,
    login: ClientLogin | undefined,
    address: string,
  ): Promise<boolean> {
    const key = `${fingerprint} ${login?.credentialRevision}`;
    const running = this.#verifying.get(key);
    if (running) return running;
    if (!this.#attempts.begin(address)) throw tooManyLogins();
    const verifying = this.#isRight(password, login, address).finally(() => {
      this.#attempts.end(address);
      this.#verifying.delete(key);
    });
    this.#verifying.set(key, verifying);
    return verifying;
  }

  /** Stores the digest without a permit: a log in an outage delays no other login. */
  async #isRight(password: string, login: ClientLogin | undefined, address: string): Promise<boolean> {
    const { right, renewed } = await this.#compare(password, address, login?.credential);
    if (login && renewed) await this.#renew(login, renewed);
    return right;
  }

  /** Resolves to whether the password is right, and a new digest of it if its digest was computed at lower costs. */
  async #compare(
    password: string,
    address: string,
    credential = this.#unknown,
  ): Promise<{ readonly right: boolean; readonly renewed?: Credential }> {
    using _permit = await this.#permits.acquire(networkOf(address));
    const right = await matches(password, credential);
    if (!right || !needsRehash(credential, this.#cost)) return { right };
    return { right, renewed: await credentialOf(password, this.#cost) };
  }
}

/** Returns the 401 of a request with unacceptable credentials, or without any. */
export function unauthorized(hasCredentials = true): SwordError {
  const headers = { 'WWW-Authenticate': 'Basic realm="deposit", charset="UTF-8"' };
  const text = hasCredentials
    ? 'Unknown client or wrong password.'
    : 'Send the name and the password of a client as HTTP Basic credentials.';
  return new SwordError('Unauthorized', text, { headers });
}

function tooManyLogins(): SwordError {
  return retryAfter('ServiceUnavailable', 'Too many logins at the same time: try again in a second.', 1);
}

/** Requires valid credentials for all later middleware and forbids caching of their responses. */
export function authenticate(
  credentials: Credentials,
  { trustProxy, baseUrl }: { readonly trustProxy: boolean; readonly baseUrl: string },
): ServiceMiddleware {
  const { origin } = new URL(baseUrl);
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    refuseOtherOrigins(ctx, origin);
    const { headers, socket } = ctx.req;
    const verify = () => credentials.verify(headers.authorization, addressOf(ctx, trustProxy), socket);
    ctx.state.login = await verify();
    ctx.state.verifyAgain = verify;
    await next();
  };
}

/** Returns the client's address; behind a trusted proxy, the one that it added last to `X-Forwarded-For`. */
export function addressOf({ req }: Pick<ServiceContext, 'req'>, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : undefined;
  return forwarded || (req.socket.remoteAddress ?? 'unknown');
}
