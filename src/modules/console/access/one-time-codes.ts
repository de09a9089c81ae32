import type { PersonView } from '../../../../projections/people.ts';
import type { Position } from '../../../event-log/event-log.ts';
import { clock } from '../../../tools/clock.ts';
import { LruCache } from '../../../tools/lru-cache.ts';
import type { Projector } from '../../../views/projector.ts';
import type { View } from '../../../views/view.ts';
import type { SessionKey } from './session-key.ts';

/** Milliseconds for which a code is valid. */
const VALID_MS = 60_000;
/** Number of used codes that a node remembers; at least half as many. */
const MAX_USED = 1000;
/** Milliseconds to wait until the view shows a person who was just added. */
const VIEW_TIMEOUT_MS = 10_000;

/** A request of the command `console`: the person who signs in, and the last event about them. */
type CodeRequest = { readonly person: string; readonly position: Position };

/** A person who signs in, and the revision of their sessions when the code was issued: the end of these ends the code. */
export type Redeemed = Pick<PersonView, 'person' | 'sessionRevision'>;

/** The contents of a code. Milliseconds since 1970. */
type Code = CodeRequest & Redeemed & { readonly issuedAt: number };

/**
 * Issues codes by which a person signs in, once on each node, within a minute. Only processes that can read the data
 * folder can ask for one, at the operator port. A code is sealed: a load balancer may pass it to another node with the
 * same key.
 */
export class OneTimeCodes {
  readonly #projector: Pick<Projector, 'passed'>;
  readonly #people: Pick<View<PersonView>, 'get'>;
  readonly #address: string;
  readonly #openKey: () => Promise<SessionKey>;
  readonly #used = new LruCache<true>(MAX_USED);
  readonly #startedAt = clock.monotonic();

  /** @param address of the console, as browsers reach it. */
  constructor(
    projector: Pick<Projector, 'passed'>,
    people: Pick<View<PersonView>, 'get'>,
    address: string,
    openKey: () => Promise<SessionKey>,
  ) {
    this.#projector = projector;
    this.#people = people;
    this.#address = address;
    this.#openKey = openKey;
  }

  /** Resolves to a link with a new code in its fragment: browsers send that to no server. */
  async issue(request: unknown): Promise<{ readonly url: string }> {
    const { person, position } = request as CodeRequest; // of the command of this release
    if (!(await this.#projector.passed(position, VIEW_TIMEOUT_MS)))
      throw new Error('The views are behind the event log: try again in a moment.');
    const view = this.#people.get(person);
    if (!view) throw new Error(`The views have no person ${person}.`);
    const { sessionRevision } = view;
    const code: Code = { person, position, sessionRevision, issuedAt: clock.now() };
    return {
      url: `${this.#address}/console/enter#${(await this.#openKey()).seal(JSON.stringify(code), 'code')}`,
    };
  }

  /** Resolves to the person whom the code is for, once the view shows them, and invalidates the code on this node. */
  async redeem(sealed: string): Promise<Redeemed | undefined> {
    const text = (await this.#openKey()).open(sealed, 'code');
    const code = text === undefined ? undefined : (JSON.parse(text) as Code); // as sealed above
    if (!code || this.#used.get(sealed)) return undefined;
    const age = clock.now() - code.issuedAt;
    const uptime = clock.monotonic() - this.#startedAt; // a code from before the start may have been used then
    if (Math.abs(age) >= VALID_MS || age > uptime) return undefined;
    this.#used.set(sealed, true);
    await this.#projector.passed(code.position, VIEW_TIMEOUT_MS); // another node may have added the person
    return code;
  }
}
