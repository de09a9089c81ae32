import type { CopyableEvent } from './copyable-event.ts';
import { hashOf } from './hash-chain.ts';

/**
 * Recomputes the hash chain of every stream of a log that is read from its beginning. Keeps the last hash of each
 * stream, some 150 bytes each.
 */
export class ChainCheck {
  /** As 32 characters, half as long as in hex. */
  readonly #last = new Map<string, string>();

  /** What is wrong, in words as in "… does not carry the hash of its contents"; undefined when all fits. */
  next(event: CopyableEvent): string | undefined {
    const { stream, revision, metadata } = event;
    const before = this.#last.get(stream);
    const { hash, prevHash } = metadata;
    this.#last.delete(stream);
    if (typeof hash !== 'string') return undefined;
    if (hash !== hashOf(stream, revision, event)) return 'does not carry the hash of its contents';
    if (prevHash !== (before === undefined ? null : toHex(before))) {
      return 'does not name the hash of the event before it in its stream';
    }
    this.#last.set(stream, Buffer.from(hash, 'hex').toString('latin1'));
    return undefined;
  }
}

function toHex(characters: string): string {
  return Buffer.from(characters, 'latin1').toString('hex');
}
