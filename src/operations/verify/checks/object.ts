import { deposits } from '../../../domain/aggregates.ts';
import { referencedObjects } from '../../../domain/deposit/referenced-objects.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { StoreAudit } from '../../../object-store/object-store.ts';
import { Limiter } from '../../../tools/concurrency/limiter.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';
import type { ResumePoint } from '../resume-point.ts';
import type { ObjectProofs } from './object-proofs.ts';

const MAX_CONCURRENT = 8;

type StatedFacts = { readonly length?: number; readonly md5?: string | null };
type Need = { readonly event: RecordedEvent; readonly stated: StatedFacts };

/**
 * Verifies every object that an event references: reads and hashes it, and compares length and MD5 if the event states
 * them.
 */
export class ObjectCheck implements LogCheck {
  readonly #report: Report;
  readonly #store: Pick<StoreAudit, 'stat'>;
  readonly #proofs: ObjectProofs;
  readonly #resume: ResumePoint;
  readonly #work = new Limiter(MAX_CONCURRENT);
  /** Events that wait for the objects being read. */
  readonly #reading = new Map<string, Need[]>();

  constructor(report: Report, store: Pick<StoreAudit, 'stat'>, proofs: ObjectProofs, resume: ResumePoint) {
    this.#report = report;
    this.#store = store;
    this.#proofs = proofs;
    this.#resume = resume;
  }

  async see(event: RecordedEvent, number: number): Promise<void> {
    for (const [sha256, stated] of objectsOf(event)) {
      if (/^[0-9a-f]{64}$/.test(sha256)) await this.#need(sha256, { event, stated }, number);
      else
        this.#find(
          sha256,
          event,
          'NO_DIGEST',
          `names the object ${JSON.stringify(sha256)}, which is not a digest`,
        );
    }
  }

  end(): Promise<void> {
    return this.#work.finished();
  }

  settled(): Promise<void> {
    return this.#work.settled();
  }

  async #need(sha256: string, need: Need, number: number): Promise<void> {
    const waiting = this.#reading.get(sha256);
    if (waiting) {
      waiting.push(need);
    } else if (this.#proofs.isKnown(sha256)) {
      await this.#compare(sha256, need);
    } else if (this.#resume.isProven(sha256, number)) {
      this.#proofs.trust(sha256);
      this.#report.counts.provenBefore += 1;
    } else {
      this.#reading.set(sha256, [need]);
      const release = this.#resume.hold(number);
      await this.#work.start(async () => {
        const fault = await this.#proofs.prove(sha256, typeof need.stated.md5 === 'string');
        if (fault) this.#report.counts.faultyObjects += 1;
        const needs = this.#reading.get(sha256) ?? [];
        this.#reading.delete(sha256);
        for (const each of needs) await this.#compare(sha256, each);
        release();
      });
    }
  }

  /** Reports what the result of reading an object means for an event. */
  async #compare(object: string, need: Need): Promise<void> {
    const { event, stated } = need;
    const fault = this.#proofs.faultOf(object);
    if (fault !== undefined) {
      this.#find(object, event, fault.code, `needs the object ${object}: ${fault.text}`);
      return;
    }
    const { length, md5 } = stated;
    const hasMd5 = typeof md5 !== 'string' || (await this.#proofs.hasMd5(object, md5));
    if (this.#proofs.faultOf(object)) return await this.#compare(object, need); // found when it was read again
    if (!hasMd5)
      this.#find(
        object,
        event,
        'MD5_WRONG',
        `names the MD5 ${md5} for the object ${object}, which has another`,
      );
    const found = length === undefined ? undefined : await this.#lengthOf(object);
    if (found !== length)
      this.#find(object, event, 'LENGTH_WRONG', `names ${length} bytes for the object ${object} of ${found}`);
  }

  async #lengthOf(object: string): Promise<number | string> {
    try {
      return (await this.#store.stat(object))?.length ?? 'no';
    } catch (error) {
      return `a length that cannot be read: ${(error as Error).message}`;
    }
  }

  #find(object: string, event: RecordedEvent, code: string, what: string): void {
    this.#resume.doAgain(object);
    const { position: _, ...finding } = eventFinding(event, 'objects', code, what); // the event itself is not bad
    this.#report.find({ ...finding, object });
  }
}

/** Returns the digests that an event references, with the length and MD5 that it states. */
function objectsOf(stored: RecordedEvent): ReadonlyMap<string, StatedFacts> {
  const objects = new Map<string, StatedFacts>();
  if (!stored.stream.startsWith(deposits.prefix)) return objects;
  try {
    const event = deposits.codec.read(stored);
    for (const sha256 of referencedObjects(event)) objects.set(sha256, {});
    if ('archive' in event.data) objects.set(event.data.archive.sha256, event.data.archive);
    if ('entry' in event.data) objects.set(event.data.entry.sha256, event.data.entry);
  } catch {
    // An altered event may miss any field; its hash is already a finding.
  }
  return objects;
}
