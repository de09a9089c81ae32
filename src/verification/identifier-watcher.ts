import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { StoreAudit } from '../archive-store/store-audit.ts';
import type { ArchiveLimits, ArchiveReader } from '../archives/inspection.ts';
import { deposits } from '../domain/aggregates.ts';
import type { ArchiveReading } from '../domain/deposit/events.ts';
import { absent, type Deposit } from '../domain/deposit/state.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import type { LogAudit } from '../event-log/log-audit.ts';
import { loadedAs } from '../reactors/identifiers.ts';
import { BoundedWork } from './bounded-work.ts';
import { aboutEvent } from './event-finding.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';
import type { ResumePoint } from './resume-point.ts';

export type IdentifierSources = {
  readonly log: Pick<LogAudit, 'stream'>;
  readonly store: Pick<StoreAudit, 'checkOut'>;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
  /** Deposits that are worked on at the same time. */
  readonly atOnce: number;
};

/** What keeps the identifiers of a deposit from being computed, or what comes out otherwise; in words. */
class Different extends Error {}

/** Reads the archives of every loaded deposit again and computes listings, tree and identifiers anew. */
export function identifierWatcher(report: Report, sources: IdentifierSources, resume: ResumePoint): Watcher {
  const work = new BoundedWork(sources.atOnce);
  const prove = async (event: RecordedEvent, release: () => void): Promise<void> => {
    try {
      await proveIdentifiers(event.stream, sources);
      report.counts.deposits += 1;
    } catch (error) {
      resume.doAgain(event.stream);
      const { position: _, ...finding } = aboutEvent(event, 'identifiers', ...faultBehind(error));
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
  if (error instanceof Different) return ['IDENTIFIERS_DIFFER', error.message];
  const { message } = error as Error;
  return ['IDENTIFIERS_NOT_COMPUTED', `cannot be computed again: ${message}`];
}

async function proveIdentifiers(stream: string, sources: IdentifierSources): Promise<void> {
  const deposit = await folded(stream, sources.log);
  if (deposit.status !== 'done' || !('loaded' in deposit))
    throw new Different(`is not the outcome: the deposit is ${deposit.status}`);
  const layers = [];
  for (const reading of deposit.readings) layers.push(await layerOf(reading, sources));
  const overlay = await sources.reader.overlay(layers);
  if (overlay.outcome === 'refused') {
    throw new Different(`cannot come about: ${overlay.faults.map(({ text }) => text).join(' ')}`);
  }
  const { loaded } = deposit;
  const manifest = hash('sha256', overlay.manifest);
  const computed: Readonly<Record<string, unknown>> = loadedAs(deposit, overlay, manifest, loaded.identity);
  const differing = Object.entries(loaded).filter(
    ([name, value]) => !isDeepStrictEqual(value, computed[name]),
  );
  if (differing.length === 0) return;
  const texts = differing.map(
    ([name, value]) => `${name} ${JSON.stringify(value)}, not ${JSON.stringify(computed[name])}`,
  );
  throw new Different(`names other results than its archives and metadata give: ${texts.join('; ')}`);
}

async function layerOf(
  { archive, listing, format, files, bytes }: ArchiveReading,
  { store, reader, limits }: IdentifierSources,
): Promise<{ readonly sha256: string; readonly listing: Uint8Array }> {
  await using object = await store.checkOut(archive);
  const inspection = await reader.inspect(object.source, archive, limits);
  if (inspection.outcome === 'refused') {
    const texts = inspection.faults.map(({ text }) => text).join(' ');
    throw new Different(`rests on the archive ${archive}, which is not accepted any more: ${texts}`);
  }
  const found = hash('sha256', inspection.listing);
  const facts = [inspection.format, inspection.files, inspection.bytes, found];
  if (!isDeepStrictEqual(facts, [format, files, bytes, listing])) {
    throw new Different(`rests on the archive ${archive}, whose listing is ${found}, not ${listing}`);
  }
  return { sha256: archive, listing: inspection.listing };
}

async function folded(stream: string, log: Pick<LogAudit, 'stream'>): Promise<Deposit> {
  let state: Deposit = absent;
  for await (const record of log.stream(stream)) {
    if (record.kind === 'unreadable') throw new Error(`revision ${record.revision} of it ${record.reason}`);
    state = deposits.decider.evolve(state, deposits.codec.read(record.event));
  }
  return state;
}
