import { isDeepStrictEqual } from 'node:util';
import type { Json, NewEvent, RecordedEvent } from '../event-log.ts';
import { canonicalJson } from './hash-chain.ts';

/** An event as it is appended to another log, where it has another position. */
export type CopyableEvent = NewEvent & Pick<RecordedEvent, 'stream' | 'revision'>;

const PARTS = ['stream', 'revision', 'id', 'type', 'data', 'metadata'] as const;

/** Describes the first difference, as in "… has another id than …"; undefined when both are equal. */
export function differenceBetween(wanted: CopyableEvent, found: CopyableEvent): string | undefined {
  const part = PARTS.find((name) => !isSame(wanted[name], found[name]));
  return part && `has another ${part} (${inWords(found)}) than in the source (${inWords(wanted)})`;
}

export function inWords({ type, stream, revision, id }: CopyableEvent): string {
  return `${type} ${id} at revision ${revision} of ${stream}`;
}

function isSame(one: Json, other: Json): boolean {
  // The first two comparisons treat 0 and -0 as different numbers; in the log they are equal.
  return one === other || isDeepStrictEqual(one, other) || canonicalJson(one) === canonicalJson(other);
}
