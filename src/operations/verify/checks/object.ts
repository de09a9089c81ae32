import { deposits } from '../../../domain/aggregates.ts';
import { referencedObjects } from '../../../domain/deposit/objects-of-events.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { StoreAudit } from '../../../object-store/object-store.ts';
import { Limiter } from '../../../tools/concurrency/limiter.ts';
import { isSha256 } from '../../../tools/cryptography/is-sha256.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';
import type { ResumePoint } from '../resume-point.ts';
import type { ObjectProofs } from './object-proofs.ts';

const MAX_CONCURRENT = 8;

type StatedFacts = { readonly length?: number; readonly md5?: string | null };
type Need = { readonly event: RecordedEvent; readonly stated: StatedFacts };

/** Reads and hashes every object that an event references, and compares its stated length and MD5. */
export function objectCheck(
  report: Report,
  store: Pick<StoreAudit, 'stat'>,
  proofs: ObjectProofs,
  resume: ResumePoint,
): LogCheck {
  const work = new Limiter(MAX_CONCURRENT);
  /** Events that wait for the objects being read. */
  const reading = new Map<string, Need[]>();
  return {
    async see(event, number) {
      for (const [sha256, stated] of objectsOf(event)) {
        if (isSha256(sha256)) await verify(sha256, { event, stated }, number);
        else {
          const what = `names the object ${JSON.stringify(sha256)}, which is not a digest`;
          find(sha256, event, 'NO_DIGEST', what);
        }
      }
    },
    end: () => work.finished(),
    settled: () => work.settled(),
  };

  async function verify(sha256: string, need: Need, number: number): Promise<void> {
    const waiting = reading.get(sha256);
    if (waiting) {
      waiting.push(need);
    } else if (proofs.isKnown(sha256)) {
      await compare(sha256, need);
    } else if (resume.isProven(sha256, number)) {
      proofs.trust(sha256);
      report.counts.provenBefore += 1;
    } else {
      reading.set(sha256, [need]);
      const release = resume.hold(number);
      await work.start(async () => {
        const fault = await proofs.prove(sha256, typeof need.stated.md5 === 'string');
        if (fault) report.counts.faultyObjects += 1;
        const needs = reading.get(sha256) ?? [];
        reading.delete(sha256);
        for (const each of needs) await compare(sha256, each);
        release();
      });
    }
  }

  /** Reports what the result of reading an object means for an event. */
  async function compare(object: string, need: Need): Promise<void> {
    const { event, stated } = need;
    const fault = proofs.faultOf(object);
    if (fault !== undefined)
      return find(object, event, fault.code, `needs the object ${object}: ${fault.text}`);
    const { length, md5 } = stated;
    const hasMd5 = typeof md5 !== 'string' || (await proofs.hasMd5(object, md5));
    if (proofs.faultOf(object)) return await compare(object, need); // found when it was read again
    if (!hasMd5)
      find(object, event, 'MD5_WRONG', `names the MD5 ${md5} for the object ${object}, which has another`);
    const found = length === undefined ? undefined : await lengthOf(object);
    if (found !== length)
      find(object, event, 'LENGTH_WRONG', `names ${length} bytes for the object ${object} of ${found}`);
  }

  async function lengthOf(object: string): Promise<number | string> {
    try {
      return (await store.stat(object))?.length ?? 'no';
    } catch (error) {
      return `a length that cannot be read: ${(error as Error).message}`;
    }
  }

  function find(object: string, event: RecordedEvent, code: string, what: string): void {
    resume.doAgain(object);
    const { position: _, ...finding } = eventFinding(event, 'objects', code, what); // the event itself is not bad
    report.find({ ...finding, object });
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
