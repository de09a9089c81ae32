import { hkdfSync } from 'node:crypto';
import type { Position } from '../../event-log/event-log.ts';
import { KEY_BYTES, openToken, sealToken } from '../../tools/cryptography/aes-gcm.ts';

/** The client and the collection that a stream is about. */
type Owner = { readonly client: string; readonly collection: string };

/**
 * Seals positions of the log for one client and collection each: from plain ones a client would learn how many events
 * all clients cause. The key follows from the id that the log and the store share, so every node opens what another one
 * has sealed, also after a restart.
 */
export function sealedPositions(storeId: string) {
  const keyOf = ({ client, collection }: Owner): Buffer => {
    const info = JSON.stringify(['positions of event streams', client, collection]);
    return Buffer.from(hkdfSync('sha256', storeId, '', info, KEY_BYTES));
  };
  return {
    seal: (position: Position, owner: Owner): string => sealToken(position, keyOf(owner)),
    /** Returns `undefined` for a text that was not sealed for this client and collection, or under another store id. */
    open: (text: string, owner: Owner): Position | undefined => openToken(text, keyOf(owner)),
  };
}

export type SealedPositions = ReturnType<typeof sealedPositions>;
