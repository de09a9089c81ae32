import type { PersonView } from '../../../../projections/people.ts';
import type { Role } from '../../../domain/person/person.ts';
import type { Credentials } from '../../../http/middleware/credentials.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import { clock } from '../../../tools/clock.ts';
import { LruCache } from '../../../tools/lru-cache.ts';
import type { View } from '../../../views/view.ts';
import type { Redeemed } from './one-time-codes.ts';
import type { SessionKey } from './session-key.ts';

/** A signed-in person or client, with what the views say about them now. */
export type Viewer = {
  readonly kind: 'person' | 'client';
  readonly name: string;
  readonly role: Role;
  /** The deposits that a depositor sees: those of a client, in the collections that it has now; `null` for all. */
  readonly scope: { readonly client: string; readonly collections: readonly string[] } | null;
  /** Whether the sign-in was recent enough for acts that cannot be undone. */
  readonly isFresh: boolean;
};

/** The contents of a cookie. Times are milliseconds since 1970. */
type Session = {
  readonly kind: Viewer['kind'];
  readonly name: string;
  /** Revision of the person's sessions, or of the client's password. */
  readonly revision: number;
  readonly signedInAt: number;
  readonly seenAt: number;
};

const MINUTE = 60_000;
const [MAX_IDLE_MS, MAX_AGE_MS, FRESH_MS] = [30 * MINUTE, 12 * 60 * MINUTE, 10 * MINUTE];
/** Milliseconds after which a cookie is renewed. */
const RENEW_MS = MINUTE;
/** Number of ended sessions that a node remembers; at least half as many. */
const MAX_ENDED = 20_000;

/**
 * Sessions as sealed cookies. No node stores them, but each remembers those that were ended on it, so that a copy of the
 * cookie is worth nothing. Each use compares them with the views, so a disabled person, the end of all sessions and a
 * changed password take effect immediately.
 */
export class Sessions {
  readonly #key: SessionKey;
  readonly #people: Pick<View<PersonView>, 'get'>;
  readonly #credentials: Pick<Credentials, 'currentLogin' | 'collectionsOf'>;
  readonly #cookie: { readonly name: string; readonly attributes: string };
  readonly #ended = new LruCache<true>(MAX_ENDED);

  constructor(
    key: SessionKey,
    people: Pick<View<PersonView>, 'get'>,
    credentials: Pick<Credentials, 'currentLogin' | 'collectionsOf'>,
    isHttps: boolean,
  ) {
    this.#key = key;
    this.#people = people;
    this.#credentials = credentials;
    this.#cookie = {
      name: isHttps ? '__Host-deposit-console' : 'deposit-console',
      attributes: `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`,
    };
  }

  /** Begins the session of a person. Returns `false` if they may not sign in, or if their sessions have been ended since. */
  beginOfPerson(ctx: ServiceContext, { person: name, sessionRevision }: Redeemed): boolean {
    const person = this.#people.get(name);
    if (!person || person.disabled || person.sessionRevision !== sessionRevision) return false;
    this.#begin(ctx, 'person', name, sessionRevision);
    return true;
  }

  /** Begins the session of a client whose password was verified. */
  beginOfClient(ctx: ServiceContext, name: string, credentialRevision: number): void {
    this.#begin(ctx, 'client', name, credentialRevision);
  }

  /** Returns who sends the request, and renews the cookie unless a page asked by itself; `undefined` without a session. */
  viewerOf(ctx: ServiceContext, { isBackground = false } = {}): Viewer | undefined {
    const session = this.#sessionOf(ctx);
    const viewer = session && this.#viewer(session);
    const isAsked = !isBackground && ctx.req.headers['x-console-background'] === undefined;
    if (viewer && isAsked && clock.now() - session.seenAt > RENEW_MS)
      this.#set(ctx, { ...session, seenAt: clock.now() });
    return viewer;
  }

  /**
   * Returns a function for answers that never end: it returns the viewer as the views say now, and `undefined` once the
   * session has ended, as the cookie of the request has it. A later cookie may prolong the session for another request.
   */
  watch(ctx: ServiceContext): () => Viewer | undefined {
    const session = this.#sessionOf(ctx);
    return () => (session && this.#isOpen(session) ? this.#viewer(session) : undefined);
  }

  end(ctx: ServiceContext): void {
    const { name, attributes } = this.#cookie;
    const session = this.#sessionOf(ctx);
    if (session) this.#ended.set(keyOf(session), true);
    ctx.append('Set-Cookie', `${name}=; ${attributes}; Max-Age=0`);
  }

  #begin(ctx: ServiceContext, kind: Viewer['kind'], name: string, revision: number): void {
    const now = clock.now();
    this.#set(ctx, { kind, name, revision, signedInAt: now, seenAt: now });
  }

  #sessionOf(ctx: ServiceContext): Session | undefined {
    const text = this.#key.open(ctx.cookies.get(this.#cookie.name) ?? '');
    const session = text === undefined ? undefined : (JSON.parse(text) as Session); // as sealed below
    return session && this.#isOpen(session) ? session : undefined;
  }

  #isOpen(session: Session): boolean {
    const isUsed = isWithin(MAX_IDLE_MS, session.seenAt) && isWithin(MAX_AGE_MS, session.signedInAt);
    return isUsed && !this.#ended.get(keyOf(session));
  }

  #viewer({ kind, name, revision, signedInAt }: Session): Viewer | undefined {
    const isFresh = isWithin(FRESH_MS, signedInAt);
    if (kind === 'client') {
      const login = this.#credentials.currentLogin({ client: name, credentialRevision: revision });
      return login && { kind, name, role: 'depositor', scope: this.#scopeOf(name), isFresh };
    }
    const person = this.#people.get(name);
    if (!person || person.disabled || person.sessionRevision !== revision) return undefined;
    const scope = person.client === null ? null : this.#scopeOf(person.client);
    return { kind, name, role: person.role, scope, isFresh };
  }

  #scopeOf(client: string): NonNullable<Viewer['scope']> {
    return { client, collections: this.#credentials.collectionsOf(client) };
  }

  #set(ctx: ServiceContext, session: Session): void {
    const { name, attributes } = this.#cookie;
    ctx.append('Set-Cookie', `${name}=${this.#key.seal(JSON.stringify(session))}; ${attributes}`);
  }
}

/** Whether the time is less than this many milliseconds ago, or ahead: the clock may have been set back since. */
function isWithin(ms: number, time: number): boolean {
  return Math.abs(clock.now() - time) < ms;
}

/** Returns what the cookies of one session share. */
function keyOf({ kind, name, signedInAt }: Session): string {
  return `${kind} ${name} ${signedInAt}`;
}
