import { createHash } from 'node:crypto';
import {
  ArchiveStoreUnavailable,
  ObjectCorrupt,
  ObjectMissing,
  ObjectUnreadable,
} from '../archive-store/archive-store.ts';
import type { StoreAudit } from '../archive-store/store-audit.ts';
import { clock } from '../tools/clock.ts';
import { KeySet } from './key-set.ts';
import type { Report } from './report.ts';

export type ObjectFault = { readonly code: string; readonly text: string };

/** The store does not answer any more. */
export class StoreGivenUp extends Error {
  override readonly name = 'StoreGivenUp';
  readonly code = 'STORE_GIVEN_UP';
}

/** By code; of what cannot be read the store tells why. */
const TEXTS: Readonly<Record<string, string>> = {
  OBJECT_MISSING: 'it is not in the store',
  OBJECT_CORRUPT: 'its bytes are others',
};
const [DIGEST_BYTES, MD5_BYTES] = [32, 16];
/** Milliseconds and objects without a single one that could be read, until there seems to be no store any more. */
const [PATIENCE, FAULTS_IN_A_ROW] = [60_000, 20];

/** Which objects were read and hashed, and what was wrong with some. Remembers 32 bytes of each, 48 more of one with an MD5. */
export class ObjectProofs {
  readonly #store: Pick<StoreAudit, 'get'>;
  readonly #report: Report;
  readonly #known = new KeySet(DIGEST_BYTES);
  /** Digests of objects, each with the MD5 behind it. */
  readonly #md5s = new KeySet(DIGEST_BYTES + MD5_BYTES);
  readonly #faults = new Map<string, ObjectFault>();
  /** By their code, once more were found than are told: only what counting them takes. */
  readonly #untold = new Map<string, KeySet>();
  #faultsInARow = 0;
  #failingSince = 0;

  constructor(store: Pick<StoreAudit, 'get'>, report: Report) {
    this.#store = store;
    this.#report = report;
  }

  isKnown(sha256: string): boolean {
    return this.#known.has(Buffer.from(sha256, 'hex'));
  }

  /** It was proven at another time. */
  trust(sha256: string): void {
    this.#known.add(Buffer.from(sha256, 'hex'));
  }

  /** Of those that were read; of some only the code is remembered, once more were found than are told. */
  faultOf(sha256: string): ObjectFault | undefined {
    const told = this.#faults.get(sha256);
    if (told) return told;
    const key = Buffer.from(sha256, 'hex');
    for (const [code, objects] of this.#untold) if (objects.has(key)) return faultOfCode(code);
    return undefined;
  }

  /**
   * Reads the object to its end; `withMd5` when `hasMd5` will be asked about it.
   * @returns what is wrong with it.
   * @throws {StoreGivenUp} it cannot be read, and neither could those before it for a while.
   */
  async prove(sha256: string, withMd5 = false): Promise<ObjectFault | undefined> {
    const fault = await this.#faultIn(sha256, withMd5);
    this.trust(sha256);
    if (fault !== undefined) this.#remember(sha256, fault);
    return fault;
  }

  /** Of an object without a fault. Reads it once more if its MD5 was not asked for when it was proven. */
  async hasMd5(sha256: string, md5: string): Promise<boolean> {
    const key = Buffer.from(sha256 + md5, 'hex');
    if (!this.#md5s.has(key)) await this.prove(sha256, true);
    return this.#md5s.has(key);
  }

  #remember(sha256: string, fault: ObjectFault): void {
    if (!this.#report.isFull) {
      this.#faults.set(sha256, fault);
      return;
    }
    const objects = this.#untold.get(fault.code) ?? new KeySet(DIGEST_BYTES);
    this.#untold.set(fault.code, objects);
    objects.add(Buffer.from(sha256, 'hex'));
  }

  async #faultIn(sha256: string, withMd5: boolean): Promise<ObjectFault | undefined> {
    try {
      const { length, body } = await this.#store.get(sha256);
      const md5 = withMd5 ? createHash('md5') : undefined;
      for await (const chunk of body) md5?.update(chunk);
      if (md5) this.#md5s.add(Buffer.concat([Buffer.from(sha256, 'hex'), md5.digest()]));
      this.#faultsInARow = 0;
      if (this.isKnown(sha256)) return undefined;
      this.#report.counts.objects += 1;
      this.#report.counts.bytes += length;
      return undefined;
    } catch (error) {
      return this.#faultBehind(error);
    }
  }

  #faultBehind(error: unknown): ObjectFault {
    if (error instanceof ObjectMissing) return faultOfCode('OBJECT_MISSING');
    if (error instanceof ObjectCorrupt) return faultOfCode('OBJECT_CORRUPT');
    if (error instanceof ObjectUnreadable) return { code: error.code, text: withoutStop(error.message) };
    if (!(error instanceof ArchiveStoreUnavailable)) throw error;
    if (this.#faultsInARow === 0) this.#failingSince = clock.monotonic();
    this.#faultsInARow += 1;
    const failing = clock.monotonic() - this.#failingSince;
    if (this.#faultsInARow >= FAULTS_IN_A_ROW && failing > PATIENCE) {
      const text = `The last ${this.#faultsInARow} objects could not be read: ${error.message} With --all, --resume goes on later.`;
      throw new StoreGivenUp(text);
    }
    return { code: 'OBJECT_UNREADABLE', text: withoutStop(error.message) };
  }
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function faultOfCode(code: string): ObjectFault {
  return { code, text: TEXTS[code] ?? 'it cannot be read' };
}
