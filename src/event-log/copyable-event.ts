import { isDeepStrictEqual } from 'node:util';
import type { Json, NewEvent, RecordedEvent } from './event-log.ts';
import { canonicalJson } from './hash-chain.ts';

/** An event as it is to stand in another log, where it has another position. */
export type CopyableEvent = NewEvent & Pick<RecordedEvent, 'stream' | 'revision'>;

const PARTS = ['stream', 'revision', 'id', 'type', 'data', 'metadata'] as const;

/** In words, as in "… has another id than …"; undefined when both are the same. */
export function differenceBetween(wanted: CopyableEvent, found: CopyableEvent): string | undefined {
  const part = PARTS.find((name) => !isSame(wanted[name], found[name]));
  return part && `has another ${part} (${inWords(found)}) than in the source (${inWords(wanted)})`;
}

export function inWords({ type, stream, revision, id }: CopyableEvent): string {
  return `${type} ${id} at revision ${revision} of ${stream}`;
}

function isSame(one: Json, other: Json): boolean {
  // The quick way takes 0 and -0 for two numbers, which are one in the log.
  return one === other || isDeepStrictEqual(one, other) || canonicalJson(one) === canonicalJson(other);
}
