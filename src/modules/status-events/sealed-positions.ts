import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Position } from '../../event-log/event-log.ts';
import { random } from '../../tools/random.ts';

/** The client and the collection that a stream is about. */
type Owner = { readonly client: string; readonly collection: string };

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, IV_BYTES, TAG_BYTES] = [32, 12, 16];

/**
 * Seals positions of the log for one client and collection each: from plain ones a client would learn how many events
 * all clients cause. The key follows from the id that the log and the store share, so every node opens what another one
 * has sealed, also after a restart.
 */
export class SealedPositions {
  readonly #storeId: string;

  constructor(storeId: string) {
    this.#storeId = storeId;
  }

  /** Returns another text at each call, so that equal positions cannot be recognized. */
  seal(position: Position, owner: Owner): string {
    const iv = random.bytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(owner), iv);
    const sealed = [cipher.update(position, 'utf8'), cipher.final()];
    return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Returns `undefined` for a text that was not sealed for this client and collection, or under another store id. */
  open(text: string, owner: Owner): Position | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#keyOf(owner), bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    }).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return (
        decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch {
      return undefined;
    }
  }

  #keyOf({ client, collection }: Owner): Buffer {
    const info = JSON.stringify(['positions of event streams', client, collection]);
    return Buffer.from(hkdfSync('sha256', this.#storeId, '', info, KEY_BYTES));
  }
}
