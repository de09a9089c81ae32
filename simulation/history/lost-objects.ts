import { deposits } from '../../src/domain/aggregates.ts';
import { referencedObjects } from '../../src/domain/deposit/objects-of-events.ts';
import type { StoredEvent } from '../cluster/stored-event.ts';
import type { S3Server } from '../network/s3-server.ts';
import { recorded } from './recorded.ts';

/** Returns whether a power cut of the store lost an object that events of a deposit name, until an operator restored it. */
export function namesLostObject(events: readonly StoredEvent[], { lost }: Pick<S3Server, 'lost'>): boolean {
  if (lost.size === 0) return false;
  return events.some((event) =>
    [...referencedObjects(deposits.codec.read(recorded(event)))].some((sha256) => lost.has(keyOf(sha256))),
  );
}

/** Returns the key under which the store has an object. */
export function keyOf(sha256: string): string {
  return `v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
}
