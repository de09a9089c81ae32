import { randomBytes, randomUUID } from 'node:crypto';
import { partOfWorld, type Randomness } from './outside-world.ts';

/** The randomness of the calling node. */
export const random: Randomness = partOfWorld('random', {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
});

/** The form of a UUID in lower case, as `random` draws it. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
