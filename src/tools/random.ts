import { randomBytes, randomUUID } from 'node:crypto';
import { ownOr, type Randomness } from './outside-world.ts';

const RANDOMNESS_OF_NODE: Randomness = {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
};

const own = (): Randomness => ownOr('random', RANDOMNESS_OF_NODE);

/** The randomness of the calling node. */
export const random: Randomness = {
  fraction: () => own().fraction(),
  uuid: () => own().uuid(),
  bytes: (count) => own().bytes(count),
};
