import { pluralize } from '../../domain/description.ts';
import { type Anchor, fingerprint } from '../../modules/anchors/anchor.ts';

/** Public keys, as anchors name them. */
export type AnchorKeys = {
  /** Keys that may have signed the anchors; empty to accept the key that an anchor names. */
  readonly keys: readonly string[];
  /** Key of this data folder; relevant only without `keys`. */
  readonly ownKey?: string;
};

/**
 * Validates the signers of the anchors of one source, in their order. If the auditor gives keys, it must be one of
 * them.
 * Otherwise it must be the key of this data folder, from the first anchor that this key has signed. Anchors before it
 * belong to another data folder or an earlier key; they are only noted.
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

  /** @returns the predicate of a finding about the anchor, if any. */
  faultOf(anchor: Anchor): string | undefined {
    const { publicKey } = anchor;
    if (this.#keys.length > 0)
      return this.#keys.includes(publicKey) ? undefined : otherKeyText(publicKey, this.#keys);
    if (this.#ownKey === undefined) return undefined;
    if (publicKey === this.#ownKey) this.#ownWasSeen = true;
    else if (this.#ownWasSeen) return otherKeyText(publicKey, [this.#ownKey]);
    else
      this.#earlier.set(publicKey, { times: (this.#earlier.get(publicKey)?.times ?? 0) + 1, last: anchor });
    return undefined;
  }

  notes(): string[] {
    const own = fingerprint(this.#ownKey ?? '');
    return Array.from(
      this.#earlier,
      ([key, { times, last }]) =>
        `Another key than that of this data folder, ${own}, has signed the first anchors of the log: the key ${fingerprint(key)} signed ${times} of them, the last over ${pluralize(last.events, 'event')} at ${last.madeAt}. That is right when the log has moved here or the key was renewed: give the public key of then with --key, and this one.`,
    );
  }
}

function otherKeyText(key: string, wanted: readonly string[]): string {
  return `is signed with another key, ${fingerprint(key)}, than ${wanted.map(fingerprint).join(' or ')}`;
}
