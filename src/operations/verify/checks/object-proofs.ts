import { createHash } from 'node:crypto';
import {
  ObjectCorrupt,
  ObjectMissing,
  ObjectStoreUnavailable,
  ObjectUnreadable,
  type StoreAudit,
} from '../../../object-store/object-store.ts';
import { clock } from '../../../tools/clock.ts';
import { errorsOfCode } from '../../../tools/coded-error.ts';
import { DigestSet } from '../../../tools/digest-set.ts';
import type { Report } from '../report.ts';

export type ObjectFault = { readonly code: string; readonly text: string };

/** The store does not answer. */
class StoreGivenUp extends errorsOfCode('STORE_GIVEN_UP') {}

/** Texts by code; for an unreadable object, the store's error is the text. */
const TEXTS: Readonly<Record<string, string>> = {
  OBJECT_MISSING: 'it is not in the store',
  OBJECT_CORRUPT: 'its bytes are others',
};
const [DIGEST_BYTES, MD5_BYTES] = [32, 16];
/** Milliseconds, and consecutive unreadable objects, after which the store counts as unavailable. */
const [STORE_TIMEOUT_MS, MAX_CONSECUTIVE_FAULTS] = [60_000, 20];

/** Records the objects that were read, and their faults, in 32 bytes for each, 48 more with an MD5. */
export class ObjectProofs {
  readonly #store: Pick<StoreAudit, 'get'>;
  readonly #report: Report;
  readonly #known = new DigestSet(DIGEST_BYTES);
  /** Digests of objects, each followed by the MD5. */
  readonly #md5s = new DigestSet(DIGEST_BYTES + MD5_BYTES);
  readonly #faults = new Map<string, ObjectFault>();
  /** Objects by error code, for findings beyond the limit of the report: only as much as is needed to count them. */
  readonly #unreported = new Map<string, DigestSet>();
  #faultsInARow = 0;
  #failingSince = 0;

  constructor(store: Pick<StoreAudit, 'get'>, report: Report) {
    this.#store = store;
    this.#report = report;
  }

  isKnown(sha256: string): boolean {
    return this.#known.has(Buffer.from(sha256, 'hex'));
  }

  /** Records that an earlier run has proven the object. */
  trust(sha256: string): void {
    this.#known.add(Buffer.from(sha256, 'hex'));
  }

  /** Returns the fault of an object that was read; only its code, if it is beyond the limit of the report. */
  faultOf(sha256: string): ObjectFault | undefined {
    const reported = this.#faults.get(sha256);
    if (reported) return reported;
    const key = Buffer.from(sha256, 'hex');
    for (const [code, objects] of this.#unreported) if (objects.has(key)) return faultOfCode(code);
    return undefined;
  }

  /**
   * Reads the object to its end; `withMd5` if `hasMd5` will be called for it.
   * @returns its fault, if any.
   * @throws {StoreGivenUp} neither this object nor those before it could be read for a while.
   */
  async prove(sha256: string, withMd5 = false): Promise<ObjectFault | undefined> {
    const fault = await this.#faultIn(sha256, withMd5);
    this.trust(sha256);
    if (fault !== undefined) this.#remember(sha256, fault);
    return fault;
  }

  /** Whether an object without a fault has this MD5. Reads it again if its MD5 was not computed when it was proven. */
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
    const objects = this.#unreported.get(fault.code) ?? new DigestSet(DIGEST_BYTES);
    this.#unreported.set(fault.code, objects);
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
    if (error instanceof ObjectUnreadable) return { code: error.code, text: withoutFullStop(error.message) };
    if (!(error instanceof ObjectStoreUnavailable)) throw error;
    if (this.#faultsInARow === 0) this.#failingSince = clock.monotonic();
    this.#faultsInARow += 1;
    const failing = clock.monotonic() - this.#failingSince;
    if (this.#faultsInARow >= MAX_CONSECUTIVE_FAULTS && failing > STORE_TIMEOUT_MS) {
      const text = `The last ${this.#faultsInARow} objects could not be read: ${error.message} Resume later with --all --resume.`;
      throw new StoreGivenUp(text);
    }
    return { code: 'OBJECT_UNREADABLE', text: withoutFullStop(error.message) };
  }
}

function withoutFullStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function faultOfCode(code: string): ObjectFault {
  return { code, text: TEXTS[code] ?? 'it cannot be read' };
}
