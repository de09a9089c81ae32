import { type Anchor, fingerprint } from '../anchors/anchor.ts';
import { counted } from '../domain/description.ts';

/** Public keys, as anchors name them. */
export type AnchorKeys = {
  /** Those that anchors may be signed with; none: whichever they name. */
  readonly keys: readonly string[];
  /** Of this data folder; in question when there are no `keys`. */
  readonly ownKey?: string;
};

/**
 * Judges who signed the anchors of one source, in their order. Where the auditor names keys, it must be one of them.
 * Else it must be the key of this data folder from the first anchor on that this key has signed: anchors before it
 * are those of another place, or of an earlier key, and are only noted.
 */
export class AnchorSigners {
  readonly #keys: readonly string[];
  readonly #ownKey: string | undefined;
  #ownWasSeen = false;
  readonly #earlier = new Map<string, { times: number; last: Anchor }>();

  constructor({ keys, ownKey }: AnchorKeys) {
    this.#keys = keys;
    this.#ownKey = keys.length === 0 ? ownKey : undefined;
  }

  /** @returns what is wrong, behind the name of the anchor. */
  faultOf(anchor: Anchor): string | undefined {
    const { publicKey } = anchor;
    if (this.#keys.length > 0)
      return this.#keys.includes(publicKey) ? undefined : foreign(publicKey, this.#keys);
    if (this.#ownKey === undefined) return undefined;
    if (publicKey === this.#ownKey) this.#ownWasSeen = true;
    else if (this.#ownWasSeen) return foreign(publicKey, [this.#ownKey]);
    else
      this.#earlier.set(publicKey, { times: (this.#earlier.get(publicKey)?.times ?? 0) + 1, last: anchor });
    return undefined;
  }

  notes(): string[] {
    const own = fingerprint(this.#ownKey ?? '');
    return Array.from(
      this.#earlier,
      ([key, { times, last }]) =>
        `Another key than that of this data folder, ${own}, has signed the first anchors of the log: the key ${fingerprint(key)} signed ${times} of them, the last over ${counted(last.events, 'event')} at ${last.madeAt}. That is right when the log has moved here or the key was renewed: give the public key of then with --key, and this one.`,
    );
  }
}

function foreign(key: string, wanted: readonly string[]): string {
  return `is signed with another key, ${fingerprint(key)}, than ${wanted.map(fingerprint).join(' or ')}`;
}
