import { isSha256 } from '../../tools/cryptography/is-sha256.ts';

const HASH_BYTES = 32;
/** Byte values that fill the place of an unknown or missing hash: no digest consists of one repeated byte. */
const [UNKNOWN, NONE] = [0x00, 0xff];

export type StreamHead = {
  readonly revision: number;
  /** 64 hex digits, `null` when the event carries none; `undefined` when it is not known. */
  readonly hash: string | null | undefined;
};

/** The maximum number of entries of a Map in V8. */
const MAP_ENTRIES = 2 ** 24;

/** Stores revision, hash and time of the last event of every stream, some 160 bytes each with the name. */
export class StreamHeads {
  readonly #mapEntries: number;
  readonly #numbers = [new Map<string, number>()];
  #revisions = new Float64Array(256);
  #hashes = new Uint8Array(256 * HASH_BYTES);
  #times = new Float64Array(256).fill(Number.NaN);

  constructor(mapEntries = MAP_ENTRIES) {
    this.#mapEntries = mapEntries;
  }

  get size(): number {
    return this.#numbers.reduce((sum, { size }) => sum + size, 0);
  }

  get(stream: string): StreamHead | undefined {
    const number = this.#numberOf(stream);
    if (number === undefined) return undefined;
    return { revision: this.#revisions[number] ?? -1, hash: hashIn(this.#bytesOf(number)) };
  }

  set(stream: string, { revision, hash }: StreamHead): void {
    const number = this.#numberOf(stream) ?? this.#add(stream);
    this.#revisions[number] = revision;
    const bytes = this.#bytesOf(number);
    if (hash && isSha256(hash)) bytes.set(Buffer.from(hash, 'hex'));
    else bytes.fill(hash === null ? NONE : UNKNOWN);
  }

  /** Returns milliseconds since 1970; `NaN` when the time is not known. */
  timeOf(stream: string): number {
    return this.#times[this.#numberOf(stream) ?? -1] ?? Number.NaN;
  }

  setTime(stream: string, time: number): void {
    this.#times[this.#numberOf(stream) ?? this.#add(stream)] = time;
  }

  #numberOf(stream: string): number | undefined {
    for (const numbers of this.#numbers) {
      const number = numbers.get(stream);
      if (number !== undefined) return number;
    }
    return undefined;
  }

  #bytesOf(number: number): Uint8Array {
    return this.#hashes.subarray(number * HASH_BYTES, (number + 1) * HASH_BYTES);
  }

  #add(stream: string): number {
    const number = this.size;
    if (number === this.#revisions.length) {
      const [revisions, hashes, times] = [this.#revisions, this.#hashes, this.#times];
      this.#revisions = new Float64Array(number * 2);
      this.#revisions.set(revisions);
      this.#hashes = new Uint8Array(number * 2 * HASH_BYTES);
      this.#hashes.set(hashes);
      this.#times = new Float64Array(number * 2).fill(Number.NaN);
      this.#times.set(times);
    }
    if (this.#numbers.at(-1)?.size === this.#mapEntries) this.#numbers.push(new Map());
    this.#numbers.at(-1)?.set(stream, number);
    return number;
  }
}

function hashIn(bytes: Uint8Array): string | null | undefined {
  if (bytes.every((byte) => byte === UNKNOWN)) return undefined;
  return bytes.every((byte) => byte === NONE) ? null : bytes.toHex();
}
