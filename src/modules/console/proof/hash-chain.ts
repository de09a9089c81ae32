import { canonicalJson, type Json, without } from './canonical-json.ts';
import { sha256 } from './digests.ts';
import type { ProvenEvent } from './evidence.ts';

/** A fault of an event; `text` is a predicate, as in "… carries no hash". */
export type ChainFault = { readonly revision: number; readonly text: string };

/** Returns the text that is hashed for the hash of an event. */
export function hashInput({ stream, revision, id, type, data, metadata }: ProvenEvent): string {
  const hashed: Json = { stream, revision, id, type, data, metadata: without('hash', metadata) };
  return canonicalJson(hashed);
}

/** Returns the hash that the event carries; `null` if it carries none. */
export function carriedHash({ metadata }: ProvenEvent): string | null {
  const hash = metadata['hash'];
  return typeof hash === 'string' ? hash : null;
}

/** Recomputes the hashes of a whole stream, and checks that its events are linked without a gap. */
export async function chainFaults(
  stream: string,
  events: readonly ProvenEvent[],
): Promise<readonly ChainFault[]> {
  const computed = await Promise.all(events.map((event) => sha256(hashInput(event))));
  let before: string | null = null;
  return events.flatMap((event, index) => {
    const carried = carriedHash(event);
    const linked = event.metadata['prevHash'] === before;
    before = carried;
    const texts = [
      event.stream !== stream && `is of the stream ${event.stream}, not of ${stream}`,
      event.revision !== index && `is where revision ${index} is expected`,
      carried === null && 'carries no hash',
      carried !== null && carried !== computed[index] && 'does not carry the hash of its contents',
      !linked && 'does not name the hash of the event before it',
    ];
    return texts.flatMap((text) => (text === false ? [] : [{ revision: event.revision, text }]));
  });
}
