import { ArchiveStoreUnavailable, ObjectCorrupt, ObjectMissing } from '../archive-store/archive-store.ts';
import type { StoreAudit } from '../archive-store/store-audit.ts';
import { KeySet } from './key-set.ts';
import type { Report } from './report.ts';

export type ObjectFault = { readonly code: string; readonly text: string };

/** The store does not answer any more. */
export class StoreGivenUp extends Error {
  override readonly name = 'StoreGivenUp';
  readonly code = 'STORE_GIVEN_UP';
}

const DIGEST_BYTES = 32;
/** Milliseconds and objects without a single one that could be read, until there seems to be no store any more. */
const [PATIENCE, FAULTS_IN_A_ROW] = [60_000, 20];

/** Which objects were read and hashed, and what was wrong with some. Remembers 32 bytes of each. */
export class ObjectProofs {
  readonly #store: Pick<StoreAudit, 'get'>;
  readonly #report: Report;
  readonly #known = new KeySet(DIGEST_BYTES);
  readonly #faults = new Map<string, ObjectFault>();
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

  /** Of those that were read; not all are remembered once more were found than are told. */
  faultOf(sha256: string): ObjectFault | undefined {
    return this.#faults.get(sha256);
  }

  /**
   * Reads the object to its end.
   * @throws {StoreGivenUp} it cannot be read, and neither could those before it for a while.
   */
  async prove(sha256: string): Promise<void> {
    const fault = await this.#faultIn(sha256);
    this.trust(sha256);
    if (fault !== undefined && !this.#report.isFull) this.#faults.set(sha256, fault);
  }

  async #faultIn(sha256: string): Promise<ObjectFault | undefined> {
    try {
      const { length, body } = await this.#store.get(sha256);
      for await (const _chunk of body);
      this.#faultsInARow = 0;
      this.#report.counts.objects += 1;
      this.#report.counts.bytes += length;
      return undefined;
    } catch (error) {
      return this.#faultBehind(error);
    }
  }

  #faultBehind(error: unknown): ObjectFault {
    if (error instanceof ObjectMissing) return { code: 'OBJECT_MISSING', text: 'it is not in the store' };
    if (error instanceof ObjectCorrupt) return { code: 'OBJECT_CORRUPT', text: 'its bytes are others' };
    if (!(error instanceof ArchiveStoreUnavailable)) throw error;
    if (this.#faultsInARow === 0) this.#failingSince = performance.now();
    this.#faultsInARow += 1;
    const failing = performance.now() - this.#failingSince;
    if (this.#faultsInARow >= FAULTS_IN_A_ROW && failing > PATIENCE) {
      const text = `The last ${this.#faultsInARow} objects could not be read: ${error.message} With --all, --resume goes on later.`;
      throw new StoreGivenUp(text);
    }
    return { code: 'OBJECT_UNREADABLE', text: error.message.replace(/\.$/, '') };
  }
}
