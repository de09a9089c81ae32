import type { StoreAudit } from '../archive-store/store-audit.ts';
import { deposits } from '../domain/aggregates.ts';
import { depositCodec } from '../domain/deposit/codec.ts';
import { namedObjects } from '../domain/deposit/named-objects.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { BoundedWork } from './bounded-work.ts';
import { aboutEvent } from './event-finding.ts';
import type { Watcher } from './history.ts';
import type { ObjectProofs } from './object-proofs.ts';
import type { Report } from './report.ts';
import type { ResumePoint } from './resume-point.ts';

const AT_ONCE = 8;

type Told = { readonly length?: number; readonly md5?: string | null };
type Need = { readonly event: RecordedEvent; readonly told: Told };

/** Has every object that an event names read and hashed again, and its length and MD5 compared where the event tells them. */
export function objectWatcher(
  report: Report,
  store: Pick<StoreAudit, 'stat'>,
  proofs: ObjectProofs,
  resume: ResumePoint,
): Watcher {
  return new ObjectWatcher(report, store, proofs, resume).watcher();
}

class ObjectWatcher {
  readonly #report: Report;
  readonly #store: Pick<StoreAudit, 'stat'>;
  readonly #proofs: ObjectProofs;
  readonly #resume: ResumePoint;
  readonly #work = new BoundedWork(AT_ONCE);
  /** Who needs the objects that are being read. */
  readonly #underWay = new Map<string, Need[]>();

  constructor(report: Report, store: Pick<StoreAudit, 'stat'>, proofs: ObjectProofs, resume: ResumePoint) {
    this.#report = report;
    this.#store = store;
    this.#proofs = proofs;
    this.#resume = resume;
  }

  watcher(): Watcher {
    return {
      see: (event, number) => this.#see(event, number),
      end: () => this.#work.finished(),
      settled: () => this.#work.settled(),
    };
  }

  async #see(event: RecordedEvent, number: number): Promise<void> {
    for (const [sha256, told] of objectsOf(event)) {
      if (/^[0-9a-f]{64}$/.test(sha256)) await this.#need(sha256, { event, told }, number);
      else
        this.#find(
          sha256,
          event,
          'NO_DIGEST',
          `names the object ${JSON.stringify(sha256)}, which is no digest`,
        );
    }
  }

  async #need(sha256: string, need: Need, number: number): Promise<void> {
    const waiting = this.#underWay.get(sha256);
    if (waiting) {
      waiting.push(need);
    } else if (this.#proofs.isKnown(sha256)) {
      await this.#judge(sha256, need);
    } else if (this.#resume.isProven(sha256, number)) {
      this.#proofs.trust(sha256);
      this.#report.counts.provenBefore += 1;
    } else {
      this.#underWay.set(sha256, [need]);
      const release = this.#resume.hold(number);
      await this.#work.start(async () => {
        const fault = await this.#proofs.prove(sha256, typeof need.told.md5 === 'string');
        if (fault) this.#report.counts.faultyObjects += 1;
        const needs = this.#underWay.get(sha256) ?? [];
        this.#underWay.delete(sha256);
        for (const each of needs) await this.#judge(sha256, each);
        release();
      });
    }
  }

  /** The object was read: what does it mean for this event? */
  async #judge(object: string, need: Need): Promise<void> {
    const { event, told } = need;
    const fault = this.#proofs.faultOf(object);
    if (fault !== undefined) {
      this.#find(object, event, fault.code, `needs the object ${object}: ${fault.text}`);
      return;
    }
    const { length, md5 } = told;
    const hasMd5 = typeof md5 !== 'string' || (await this.#proofs.hasMd5(object, md5));
    if (this.#proofs.faultOf(object)) return await this.#judge(object, need); // found when it was read once more
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
    const { position: _, ...finding } = aboutEvent(event, 'objects', code, what); // the event itself is not bad
    this.#report.find({ ...finding, object });
  }
}

/** Digests, with what else the event tells of the bytes. */
function objectsOf(stored: RecordedEvent): ReadonlyMap<string, Told> {
  const objects = new Map<string, Told>();
  if (!stored.stream.startsWith(deposits.prefix)) return objects;
  try {
    const event = depositCodec.read(stored);
    for (const sha256 of namedObjects(event)) objects.set(sha256, {});
    if ('archive' in event.data) objects.set(event.data.archive.sha256, event.data.archive);
    if ('entry' in event.data) objects.set(event.data.entry.sha256, event.data.entry);
  } catch {
    // An event that was altered may lack anything: its hash has told of it.
  }
  return objects;
}
