import { randomBytes, randomUUID } from 'node:crypto';
import { partOfWorld, type Randomness } from './outside-world.ts';

/** The randomness of the calling node. */
export const random: Randomness = partOfWorld('random', {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
});
