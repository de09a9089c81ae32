import { clock } from '../../tools/clock.ts';
import type { MemberCollector } from '../member-collector.ts';
import type { Hashed } from '../members/member-hash.ts';
import { type BatchMember, faultOf, type ReadMember, readBatch, type ZipBatch } from './zip-batch.ts';
import { LARGEST_SMALL } from './zip-data.ts';
import type { ZipEntry } from './zip-directory.ts';
import type { PlacedEntry } from './zip-entry.ts';

/** Reads batches in other threads. */
export interface Assistant {
  /** Whether it would accept a batch now. */
  readonly isFree: boolean;
  /** Takes ownership of the bytes. Rejects if the other thread has died. */
  read(batch: ZipBatch): Promise<readonly ReadMember[]>;
}

/** Most unpacked bytes and members of a batch, but for its last member: some 10 ms of work. */
const [MOST_UNPACKED, MOST_MEMBERS] = [2 * 1024 ** 2, 500];

/** Members that are in the tree already, and their bytes, which are being read or were read. */
type Begun = {
  readonly placed: readonly PlacedEntry[];
  read: Promise<readonly ReadMember[]> | readonly ReadMember[];
};

/**
 * Reads the members of a zip: small ones in batches, in this thread and in those of an assistant at the same time.
 * Faults are reported in the order of the archive, in whatever order batches were read.
 */
export class ZipBatches {
  readonly #contents: MemberCollector;
  readonly #assistant: Assistant | undefined;
  readonly #begun: Begun[] = [];
  readonly #length: number;
  #bytes: Buffer<ArrayBuffer>;
  #filled = 0;
  #unpacked = 0;
  #members: BatchMember[] = [];
  #placed: PlacedEntry[] = [];

  /** @param length bytes of the archive */
  constructor(contents: MemberCollector, length: number, assistant?: Assistant) {
    this.#contents = contents;
    this.#assistant = assistant;
    this.#length = Math.min(length, LARGEST_SMALL);
    this.#bytes = Buffer.allocUnsafeSlow(this.#length);
  }

  /** Adds a small member, whose data is copied. */
  async add(data: Uint8Array, { rawName, method, crc, packed, unpacked }: ZipEntry, placed: PlacedEntry) {
    if (this.#filled + packed > this.#length) await this.#readBatch();
    this.#bytes.set(data, this.#filled);
    this.#filled += packed;
    this.#unpacked += unpacked;
    this.#members.push({ rawName, method, crc, packed, unpacked, isLink: placed.kind === 'link' });
    this.#placed.push(placed);
    if (this.#unpacked > MOST_UNPACKED || this.#members.length >= MOST_MEMBERS) await this.#readBatch();
  }

  /** Adds a large member, which is read here. */
  async addLarge(hashed: () => Promise<Hashed>, placed: PlacedEntry): Promise<void> {
    await this.#readBatch();
    const read = await hashed().then((found) => ({ hashed: found }), faultOf);
    this.#begin([placed], [read]);
  }

  /** Resolves once all members are read. */
  async finish(): Promise<void> {
    await this.#readBatch();
    for (const begun of this.#begun) begun.read = await begun.read;
    this.#applyRead();
  }

  async #readBatch(): Promise<void> {
    if (this.#members.length === 0) return;
    const batch = { bytes: this.#bytes.subarray(0, this.#filled), members: this.#members };
    const placed = this.#placed;
    [this.#filled, this.#unpacked, this.#members, this.#placed] = [0, 0, [], []];
    if (this.#assistant?.isFree) {
      this.#bytes = Buffer.allocUnsafeSlow(this.#length);
      this.#begin(placed, this.#assistant.read(batch));
    } else this.#begin(placed, readBatch(batch));
    if (this.#assistant) await clock.nextTurn(); // in which replies arrive
    this.#applyRead();
  }

  #begin(placed: readonly PlacedEntry[], read: Begun['read']): void {
    const begun: Begun = { placed, read };
    this.#begun.push(begun);
    if (!(read instanceof Promise)) return;
    const settle = async () => void (begun.read = await read);
    settle().catch(() => undefined); // `finish` rejects
  }

  /** Adds what was read to the tree, up to the first members that are still being read. */
  #applyRead(): void {
    for (let [first] = this.#begun; first && !(first.read instanceof Promise); [first] = this.#begun) {
      const { placed, read } = first;
      for (const [index, found] of read.entries()) this.#apply(placed[index]!, found);
      this.#begun.shift();
    }
  }

  #apply(placed: PlacedEntry, read: ReadMember): void {
    if ('fault' in read) {
      this.#contents.faults.add(read.fault.code, read.fault.text);
    } else if (placed.kind !== 'directory') {
      Object.assign(placed.member, read.hashed);
      if (read.target !== undefined) this.#contents.checkLink(placed.path, read.target);
    }
  }
}
