import type { ConsumerStrategy } from './consumer-strategies.ts';
import type { GroupConsumer } from './group-consumer.ts';
import type { Message } from './message.ts';
import type { PushResult } from './stream-buffer.ts';

type Bucket = { consumer: GroupConsumer; inFlight: number };

const BUCKET_COUNT = 1024;

/**
 * Streams fall into buckets, and a bucket belongs to one consumer. A new consumer gets buckets of the others, those
 * without events in work first, then also the others; those of one that is gone are dealt out when they are needed.
 */
export class PinnedStrategy implements ConsumerStrategy {
  readonly #consumers: GroupConsumer[] = [];
  readonly #buckets = new Map<number, Bucket>();

  add(consumer: GroupConsumer): void {
    this.#consumers.push(consumer);
    const share = Math.ceil(this.#buckets.size / this.#consumers.length);
    for (const other of this.#consumers) {
      const own = [...this.#buckets.values()].filter((bucket) => bucket.consumer === other);
      const surplus = own
        .sort((one, two) => one.inFlight - two.inFlight)
        .slice(0, Math.max(0, own.length - share));
      for (const bucket of surplus) Object.assign(bucket, { consumer, inFlight: 0 });
    }
  }

  remove(consumer: GroupConsumer): void {
    this.#consumers.splice(this.#consumers.indexOf(consumer), 1);
    for (const [number, bucket] of this.#buckets) {
      if (bucket.consumer === consumer) this.#buckets.delete(number);
    }
  }

  push(message: Message): PushResult {
    if (this.#consumers.every(({ room }) => room <= 0)) return 'full';
    const bucket = this.#bucketOf(message.event.stream);
    if (!bucket.consumer.push(message)) return 'skipped';
    bucket.inFlight += 1;
    return 'sent';
  }

  released(consumer: GroupConsumer, stream: string): void {
    const bucket = this.#buckets.get(bucketNumber(stream));
    if (bucket?.consumer === consumer) bucket.inFlight -= 1;
  }

  #bucketOf(stream: string): Bucket {
    const number = bucketNumber(stream);
    const known = this.#buckets.get(number);
    if (known) return known;
    const bucket = { consumer: this.#leastLoaded(), inFlight: 0 };
    this.#buckets.set(number, bucket);
    return bucket;
  }

  #leastLoaded(): GroupConsumer {
    const counts = new Map(this.#consumers.map((consumer) => [consumer, 0]));
    for (const { consumer } of this.#buckets.values()) counts.set(consumer, (counts.get(consumer) ?? 0) + 1);
    const [first] = [...counts].sort(([, one], [, two]) => one - two);
    return (first as [GroupConsumer, number])[0];
  }
}

/** Returns a bucket by the FNV-1a hash of the name. A server has another hash, which spreads streams alike. */
function bucketNumber(stream: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(stream)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % BUCKET_COUNT;
}

/** Returns whether a server of this version counts events that wait for a PINNED consumer that is full. */
export function countsSkipped(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major === 24) return minor > 10 || (minor === 10 && patch >= 14);
  if (major === 26) return minor > 0 || patch >= 3;
  return major > 26;
}
