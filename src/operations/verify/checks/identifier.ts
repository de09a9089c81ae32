import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ArchiveLimits, ArchiveReader } from '../../../archives/archive-reader.ts';
import { loadedData } from '../../../deposits/load.ts';
import { deposits } from '../../../domain/aggregates.ts';
import type { ArchiveReading } from '../../../domain/deposit/events.ts';
import { absent, type Deposit } from '../../../domain/deposit/state.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { LogAudit } from '../../../event-log/integrity/log-audit.ts';
import type { StoreAudit } from '../../../object-store/object-store.ts';
import { Limiter } from '../../../tools/concurrency/limiter.ts';
import type { LogCheck } from '../log-pass.ts';
import { eventFinding, type Report } from '../report.ts';
import type { ResumePoint } from '../resume-point.ts';

export type IdentifierSources = {
  readonly log: Pick<LogAudit, 'stream'>;
  readonly store: Pick<StoreAudit, 'materialize'>;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
  /** Maximum number of deposits processed concurrently. */
  readonly concurrency: number;
};

/** The identifiers of a deposit cannot be computed, or differ; the message is the predicate of a finding. */
class IdentifierMismatch extends Error {}

/** Reads the archives of every loaded deposit again and recomputes listings, tree and identifiers. */
export function identifierCheck(report: Report, sources: IdentifierSources, resume: ResumePoint): LogCheck {
  const work = new Limiter(sources.concurrency);
  const prove = async (event: RecordedEvent, release: () => void): Promise<void> => {
    try {
      await proveIdentifiers(event.stream, sources);
      report.counts.deposits += 1;
    } catch (error) {
      resume.doAgain(event.stream);
      const { position: _, ...finding } = eventFinding(event, 'identifiers', ...faultBehind(error));
      report.find(finding);
    }
    release();
  };
  return {
    async see(event, number) {
      if (event.type !== 'DepositLoaded' || !event.stream.startsWith(deposits.prefix)) return;
      if (resume.isProven(event.stream, number)) {
        report.counts.provenBefore += 1;
        return;
      }
      const release = resume.hold(number);
      await work.start(() => prove(event, release));
    },
    end: () => work.finished(),
    settled: () => work.settled(),
  };
}

function faultBehind(error: unknown): readonly [code: string, what: string] {
  if (error instanceof IdentifierMismatch) return ['IDENTIFIERS_DIFFER', error.message];
  const { message } = error as Error;
  return ['IDENTIFIERS_NOT_COMPUTED', `cannot be computed again: ${message}`];
}

async function proveIdentifiers(stream: string, sources: IdentifierSources): Promise<void> {
  const deposit = await foldDeposit(stream, sources.log);
  if (deposit.status !== 'done' || !('loaded' in deposit))
    throw new IdentifierMismatch(`is not the outcome: the deposit is ${deposit.status}`);
  const listings = [];
  for (const reading of deposit.readings) listings.push(await listingOf(reading, sources));
  const merged = await sources.reader.merge(listings);
  if (merged.outcome === 'refused') {
    throw new IdentifierMismatch(`cannot be computed: ${merged.faults.map(({ text }) => text).join(' ')}`);
  }
  const { loaded } = deposit;
  const manifest = hash('sha256', merged.manifest);
  const computed: Readonly<Record<string, unknown>> = loadedData(deposit, merged, manifest, loaded.identity);
  const differing = Object.entries(loaded).filter(
    ([name, value]) => !isDeepStrictEqual(value, computed[name]),
  );
  if (differing.length === 0) return;
  const texts = differing.map(
    ([name, value]) => `${name} ${JSON.stringify(value)}, not ${JSON.stringify(computed[name])}`,
  );
  throw new IdentifierMismatch(
    `names other results than its archives and metadata give: ${texts.join('; ')}`,
  );
}

async function listingOf(
  { archive, listing, format, files, bytes }: ArchiveReading,
  { store, reader, limits }: IdentifierSources,
): Promise<{ readonly sha256: string; readonly listing: Uint8Array }> {
  await using object = await store.materialize(archive);
  const inspection = await reader.inspect(object.source, archive, limits);
  if (inspection.outcome === 'refused') {
    const texts = inspection.faults.map(({ text }) => text).join(' ');
    throw new IdentifierMismatch(`is based on the archive ${archive}, which is no longer accepted: ${texts}`);
  }
  const found = inspection.listingSha256;
  const facts = [inspection.format, inspection.files, inspection.bytes, found];
  if (!isDeepStrictEqual(facts, [format, files, bytes, listing])) {
    throw new IdentifierMismatch(
      `is based on the archive ${archive}, whose listing is ${found}, not ${listing}`,
    );
  }
  return { sha256: archive, listing: inspection.listing };
}

async function foldDeposit(stream: string, log: Pick<LogAudit, 'stream'>): Promise<Deposit> {
  let state: Deposit = absent;
  for await (const record of log.stream(stream)) {
    if (record.kind === 'unreadable') throw new Error(`revision ${record.revision} of it ${record.reason}`);
    state = deposits.decider.evolve(state, deposits.codec.read(record.event));
  }
  return state;
}
