import { hash } from 'node:crypto';
import type { Position } from '../../../event-log/event-log.ts';
import { clock } from '../../../tools/clock.ts';
import { random } from '../../../tools/random.ts';
import type { Projector } from '../../../views/projector.ts';

/** Milliseconds for which a code is valid. */
const VALID_MS = 60_000;
/** Maximum number of unused codes; the oldest ones are dropped. */
const MAX_CODES = 100;
/** Milliseconds to wait until the view shows a person who was just added. */
const VIEW_TIMEOUT_MS = 10_000;

/** A request of the command `console`: the person who signs in, and the last event about them. */
type CodeRequest = { readonly person: string; readonly position: Position };

/**
 * Issues codes by which a person signs in once, within a minute. Only processes that can read the data folder can ask
 * for one, at the operator port. Stores digests only.
 */
export class OneTimeCodes {
  readonly #projector: Pick<Projector, 'passed'>;
  readonly #address: string;
  readonly #codes = new Map<string, { readonly person: string; readonly validUntil: number }>();

  /** @param address of the console, as browsers reach it. */
  constructor(projector: Pick<Projector, 'passed'>, address: string) {
    this.#projector = projector;
    this.#address = address;
  }

  /** Resolves to a link with a new code of 256 bits, in its fragment: browsers send that to no server. */
  async issue(request: unknown): Promise<{ readonly url: string }> {
    const { person, position } = request as CodeRequest; // of the command of this release
    if (!(await this.#projector.passed(position, VIEW_TIMEOUT_MS)))
      throw new Error('The views are behind the event log: try again in a moment.');
    const code = random.bytes(32).toString('base64url');
    this.#codes.set(digestOf(code), { person, validUntil: clock.monotonic() + VALID_MS });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > MAX_CODES && oldest !== undefined) this.#codes.delete(oldest);
    return { url: `${this.#address}/console/enter#${code}` };
  }

  /** Returns the person whom the code is for, and invalidates the code. */
  redeem(code: string): string | undefined {
    const digest = digestOf(code);
    const found = this.#codes.get(digest);
    this.#codes.delete(digest);
    return found && clock.monotonic() < found.validUntil ? found.person : undefined;
  }
}

function digestOf(code: string): string {
  return hash('sha256', code);
}
