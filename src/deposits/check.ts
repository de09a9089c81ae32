import { hash } from 'node:crypto';
import type { ArchiveLimits, ArchiveReader } from '../archives/inspection.ts';
import { clients } from '../domain/aggregates.ts';
import { type ArchiveVerdict, check, type Finding } from '../domain/deposit/checks.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { Archive } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { toChunks } from '../object-store/chunks.ts';
import {
  type LocalSource,
  ObjectMissing,
  type ObjectStore,
  ObjectUnreadable,
} from '../object-store/object-store.ts';
import { isTransient } from '../tools/concurrency/transient-faults.ts';
import { load } from './command-handler.ts';

type Deposited = Extract<Deposit, { status: 'deposited' }>;

export type CheckParts = {
  readonly log: EventLog;
  readonly store: ObjectStore;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
};

/** Checks a complete deposit and records the outcome, by a command: `deposited` → `verified` or `rejected`. */
export async function checkDeposit(
  parts: CheckParts,
  { depositId, client, entries, archives, checkAttempt: attempt }: Deposited,
  record: (command: DepositCommand) => Promise<unknown>,
): Promise<void> {
  const inspected = await Promise.all(archives.map((archive) => inspectStored(parts, archive, client)));
  const outcome = check({
    entries,
    archives: inspected,
    conflicts: await conflictsIn(parts.reader, inspected, client),
    clientDomain: await domainOf(parts.log, client),
  });
  const { verified, warnings } = outcome;
  if (!verified) {
    await record({ type: 'RecordRejected', depositId, attempt, reasons: outcome.reasons, warnings });
    return;
  }
  // Those of a rejected deposit would be orphans.
  await Promise.all(
    inspected.map(async ({ listing }) => listing && (await parts.store.put(toChunks(listing)))),
  );
  await record({ type: 'RecordVerified', depositId, attempt, readings: outcome.readings, warnings });
}

type InspectedArchive = ArchiveVerdict & {
  /** The members; absent if the archive was refused. */
  readonly listing?: Uint8Array;
};

/** Reads one archive, of a deposit or of a dry run, and returns the verdict about it. */
export async function inspectArchive(
  { reader, limits }: { readonly reader: Pick<ArchiveReader, 'inspect'>; readonly limits: ArchiveLimits },
  archive: Archive,
  source: LocalSource,
  owner?: string,
): Promise<InspectedArchive> {
  const inspection = await reader.inspect(source, archive.sha256, limits, owner);
  if (inspection.outcome === 'refused')
    return { archive, reading: null, faults: inspection.faults, warnings: [] };
  const { format, files, bytes, warnings, listing } = inspection;
  const reading = { archive: archive.sha256, format, files, bytes, listing: hash('sha256', listing) };
  return { archive, reading, faults: [], warnings, listing };
}

async function inspectStored(parts: CheckParts, archive: Archive, client: string): Promise<InspectedArchive> {
  await using object = await parts.store.materialize(archive.sha256);
  return await inspectArchive(parts, archive, object.source, client).catch((error: unknown) => {
    throw objectErrorOf(error, archive.sha256);
  });
}

/** Returns the conflicts between archives that are merged; a single archive has none. */
async function conflictsIn(
  reader: ArchiveReader,
  inspected: readonly InspectedArchive[],
  client: string,
): Promise<readonly Finding[]> {
  // the workers take ownership of the copies
  const layers = inspected.flatMap(({ archive: { sha256, filename: name }, listing }) =>
    listing ? { sha256, name, listing: listing.slice() } : [],
  );
  if (layers.length < 2 || layers.length < inspected.length) return [];
  const overlay = await reader.overlay(layers, client);
  return overlay.outcome === 'refused' ? overlay.faults : [];
}

/** Reads the domain from the log, not from a view: any node may check, even one whose views are behind. */
async function domainOf(log: EventLog, client: string): Promise<string | null> {
  const { state } = await load(log, clients, client);
  return state.status === 'unknown' ? null : state.domain;
}

/** Converts a file-system error into the error of the object; returns any other error unchanged. */
function objectErrorOf(error: unknown, sha256: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || isTransient(error)) return error;
  return code === 'ENOENT' ? new ObjectMissing(sha256) : new ObjectUnreadable(sha256, code, { cause: error });
}
