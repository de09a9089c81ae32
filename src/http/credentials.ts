import { hash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { ClientLogin } from '../../projections/client-logins.ts';
import { InTurn } from '../in-turn.ts';
import { isCheap, matches, nobody } from '../password.ts';
import type { View } from '../read-models/projector.ts';
import { RecentlyUsed } from '../recently-used.ts';
import { SwordError } from '../sword/sword-error.ts';
import { random } from '../tools/random.ts';
import { LoginAttempts, networkOf } from './login-attempts.ts';

/** Keeps a password, just found right, at today's costs. Never rejects. */
export type RenewPassword = (login: ClientLogin, password: string) => Promise<void>;

type Verified = Pick<ClientLogin, 'client' | 'credentialRevision'>;

/** Of the headers that came last at least half as many. */
const MAX_REMEMBERED = 20_000;
/** scrypt takes a thread of the pool that file access needs, too, and a core: one of two is left to the others. */
export const AT_ONCE = availableParallelism() > 2 ? 2 : 1;
const IN_LINE = 32;

/**
 * Tells who an `Authorization` header is from. What has been verified once is remembered under a keyed hash, so
 * that a request costs no scrypt; a changed password or a disabled client counts at once all the same.
 */
export class Credentials {
  readonly #logins: Pick<View<ClientLogin>, 'get'>;
  readonly #renew: RenewPassword;
  readonly #attempts = new LoginAttempts();
  /** 144 bits, since it is hashed with every request. */
  readonly #key = random.bytes(18).toString('base64');
  readonly #verified = new RecentlyUsed<Verified>(MAX_REMEMBERED);
  readonly #verifying = new Map<string, Promise<boolean>>();
  /** By network: whoever guesses keeps nobody else waiting. */
  readonly #line = new InTurn<() => void>();
  #busy = 0;

  constructor(logins: Pick<View<ClientLogin>, 'get'>, renew: RenewPassword) {
    this.#logins = logins;
    this.#renew = renew;
  }

  /** Passwords that wait for their turn to be verified. */
  get waiting(): number {
    return this.#line.size;
  }

  /** @throws {SwordError} 401, the same for an unknown name and a wrong password; 429; 503 */
  async verify(authorization: string | undefined, address: string): Promise<ClientLogin> {
    const remembered = this.recall(authorization);
    if (remembered) return remembered;
    const sent = parseBasic(authorization);
    if (!sent) throw unauthorized();
    this.#refuseGuessing(address);
    const fingerprint = this.#fingerprintOf(authorization);
    const login = this.#logins.get(sent.name);
    const known = login && !login.disabled ? login : undefined;
    const right = await this.#verifyOnce(fingerprint, sent.password, known, address);
    if (!right || !known) {
      this.#attempts.failed(address);
      throw unauthorized();
    }
    const { client, credentialRevision } = known;
    this.#verified.set(fingerprint, { client, credentialRevision });
    return known;
  }

  /** Who a header is from that has been verified already, at once; `undefined` when that is not known, or no more so. */
  recall(authorization: string | undefined): ClientLogin | undefined {
    const remembered = authorization && this.#verified.get(this.#fingerprintOf(authorization));
    return remembered ? this.stillGood(remembered) : undefined;
  }

  /** The login as it is now, unless it ended since it was accepted: with another password, or a disabled client. */
  stillGood({ client, credentialRevision }: Verified): ClientLogin | undefined {
    const login = this.#logins.get(client);
    return login?.disabled === false && login.credentialRevision === credentialRevision ? login : undefined;
  }

  #fingerprintOf(authorization: string | undefined): string {
    return hash('sha256', `${this.#key}${authorization}`, 'base64');
  }

  #refuseGuessing(address: string): void {
    const wait = this.#attempts.waitOf(address);
    if (wait === 0) return;
    const text = `Too many failed logins from your address: try again in ${wait} seconds.`;
    throw new SwordError('TooManyRequests', text, { headers: { 'Retry-After': String(wait) } });
  }

  /** Requests that come at the same time with the same header share one scrypt. */
  #verifyOnce(
    fingerprint: string,
    password: string,
    login: ClientLogin | undefined,
    address: string,
  ): Promise<boolean> {
    const key = `${fingerprint} ${login?.credentialRevision}`;
    const under = this.#verifying.get(key);
    if (under) return under;
    if (!this.#attempts.begin(address)) throw crowded();
    const verifying = this.#inTurn(address, () => this.#isRight(password, login)).finally(() => {
      this.#attempts.end(address);
      this.#verifying.delete(key);
    });
    this.#verifying.set(key, verifying);
    return verifying;
  }

  async #isRight(password: string, login: ClientLogin | undefined): Promise<boolean> {
    const right = await matches(password, login?.credential ?? nobody);
    if (right && login && isCheap(login.credential)) await this.#renew(login, password);
    return right;
  }

  async #inTurn(address: string, work: () => Promise<boolean>): Promise<boolean> {
    if (this.#busy < AT_ONCE) this.#busy += 1;
    else {
      if (this.#line.size >= IN_LINE) throw crowded();
      // The place is handed over.
      await new Promise<void>((resolve) => this.#line.add(networkOf(address), resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#line.take();
      if (next) next();
      else this.#busy -= 1;
    }
  }
}

function parseBasic(authorization: string | undefined): { name: string; password: string } | undefined {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '') ?? [];
  if (base64 === undefined) return undefined;
  const text = Buffer.from(base64, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function unauthorized(): SwordError {
  const headers = { 'WWW-Authenticate': 'Basic realm="deposit", charset="UTF-8"' };
  return new SwordError(
    'Unauthorized',
    'Send the name and the password of a client as HTTP Basic credentials.',
    {
      headers,
    },
  );
}

function crowded(): SwordError {
  const headers = { 'Retry-After': '1' };
  return new SwordError('ServiceUnavailable', 'Too many logins at the same time: try again in a second.', {
    headers,
  });
}
