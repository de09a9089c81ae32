import { world } from '../world/world.ts';

const BUCKETS = 32;

/** Which consumer of a group with the strategy Pinned gets the events of which streams. */
export class Buckets<Consumer> {
  readonly #owners = new Map<number, Consumer>();

  ownerOf(stream: string): Consumer | undefined {
    return this.#owners.get(bucketOf(stream));
  }

  /** Moves as few buckets as make their numbers even. Which ones move is random. */
  deal(consumers: readonly Consumer[]): void {
    for (const [bucket, owner] of this.#owners) if (!consumers.includes(owner)) this.#owners.delete(bucket);
    if (consumers.length === 0) return;
    const share = Math.ceil(BUCKETS / consumers.length);
    const counts = new Map(consumers.map((consumer) => [consumer, 0]));
    const count = (consumer: Consumer): number => counts.get(consumer) ?? 0;
    const order = world().networkRandom.shuffled(Array.from({ length: BUCKETS }, (_, bucket) => bucket));
    for (const bucket of order) {
      const owner = this.#owners.get(bucket);
      if (owner !== undefined && count(owner) < share) counts.set(owner, count(owner) + 1);
      else this.#owners.delete(bucket);
    }
    for (const bucket of order) {
      if (this.#owners.has(bucket)) continue;
      const least = consumers.reduce((one, other) => (count(other) < count(one) ? other : one));
      this.#owners.set(bucket, least);
      counts.set(least, count(least) + 1);
    }
  }
}

function bucketOf(stream: string): number {
  let hash = 7;
  for (let index = 0; index < stream.length; index++)
    hash = Math.imul(hash ^ stream.charCodeAt(index), 0x01000193);
  return (hash >>> 3) % BUCKETS;
}
