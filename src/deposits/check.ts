import type { ClientLogin } from '../../projections/client-logins.ts';
import {
  type ArchiveLimits,
  type ArchiveReader,
  LARGEST_LISTINGS,
  type Tree,
} from '../archives/archive-reader.ts';
import { clients } from '../domain/aggregates.ts';
import { type ArchiveVerdict, check, type Finding } from '../domain/deposit/checks.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { Archive } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import { toChunks } from '../object-store/chunks.ts';
import {
  type LocalSource,
  ObjectMissing,
  type ObjectStore,
  ObjectUnreadable,
} from '../object-store/object-store.ts';
import { mapConcurrent } from '../tools/concurrency/limiter.ts';
import { isTransient } from '../tools/concurrency/transient-faults.ts';
import { isBefore } from '../views/apply-events.ts';
import type { Projector } from '../views/projector.ts';
import type { View } from '../views/view.ts';
import { readState } from './command-handler.ts';

/** Maximum number of archives of one deposit that are read at the same time. */
const READ_AT_ONCE = 4;

type Deposited = Extract<Deposit, { status: 'deposited' }>;

export type CheckParts = {
  readonly log: EventLog;
  readonly logins: Pick<View<ClientLogin>, 'get'>;
  readonly views: Pick<Projector, 'position'>;
  readonly store: ObjectStore;
  readonly reader: ArchiveReader;
  readonly limits: ArchiveLimits;
};

/** The tree of a deposit, and the digest of the stored manifest: all that a load needs. */
export type Loadable = { readonly tree: Tree; readonly manifest: string };

/** Records the outcome of a check by a command, and loads the deposit as well if it can. */
type RecordCheck = (command: DepositCommand, loadable?: Loadable) => Promise<unknown>;

/**
 * Checks a complete deposit and records the outcome: `deposited` → `verified` or `rejected`. A deposit of one small
 * archive, whose tree is known from the check, becomes `done` in the same append.
 */
export async function checkDeposit(
  parts: CheckParts,
  { depositId, client, entries, archives, checkAttempt: attempt }: Deposited,
  position: Position,
  record: RecordCheck,
): Promise<void> {
  const inspected = await inspectAll(parts, archives, client);
  const outcome = check({
    entries,
    archives: inspected,
    conflicts: await conflictsIn(parts.reader, inspected, client),
    clientDomain: await domainOf(client, position, parts),
  });
  const { verified, warnings } = outcome;
  if (!verified) {
    await record({ type: 'RecordRejected', depositId, attempt, reasons: outcome.reasons, warnings });
    return;
  }
  const tree = inspected.length === 1 ? inspected[0]?.tree : undefined;
  // Those of a rejected deposit would be orphans.
  const [manifest] = await Promise.all(
    [tree?.manifest, ...inspected.map(({ listing }) => listing)].map(
      async (document) => document && (await parts.store.put(toChunks(document))),
    ),
  );
  await record(
    { type: 'RecordVerified', depositId, attempt, readings: outcome.readings, warnings },
    tree && manifest ? { tree, manifest: manifest.sha256 } : undefined,
  );
}

type InspectedArchive = ArchiveVerdict & {
  /** The members; absent if the archive was refused. */
  readonly listing?: Uint8Array;
  readonly tree?: Tree | undefined;
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
  const { format, files, bytes, warnings, listing, listingSha256, tree } = inspection;
  const reading = { archive: archive.sha256, format, files, bytes, listing: listingSha256 };
  return { archive, reading, faults: [], warnings, listing, tree };
}

/**
 * Reads the archives and holds their listings, until these are larger than those of any deposit that is accepted: then
 * returns the verdicts so far, without listings.
 */
async function inspectAll(
  parts: CheckParts,
  archives: readonly Archive[],
  client: string,
): Promise<readonly InspectedArchive[]> {
  const inspected = new Map<number, InspectedArchive>();
  let bytes = 0;
  await mapConcurrent(archives.entries(), READ_AT_ONCE, async ([index, archive]) => {
    if (bytes > LARGEST_LISTINGS) return;
    const verdict = await inspectStored(parts, archive, client);
    bytes += verdict.listing?.length ?? 0;
    inspected.set(index, bytes > LARGEST_LISTINGS ? withoutListing(verdict) : verdict);
  });
  const inOrder = archives.flatMap((_, index) => inspected.get(index) ?? []);
  return bytes > LARGEST_LISTINGS ? inOrder.map(withoutListing) : inOrder;
}

function withoutListing({ listing: _listing, ...verdict }: InspectedArchive): InspectedArchive {
  return verdict;
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
  if (inspected.some(({ reading, listing }) => reading && !listing)) return [TOO_LARGE];
  // the workers take ownership of the copies
  const listings = inspected.flatMap(({ archive: { sha256, filename: name }, listing }) =>
    listing ? { sha256, name, listing: listing.slice() } : [],
  );
  if (listings.length < 2 || listings.length < inspected.length) return [];
  const merged = await reader.merge(listings, client);
  return merged.outcome === 'refused' ? merged.faults : [];
}

const TOO_LARGE: Finding = {
  code: 'PATHS_TOO_LARGE',
  text: "The deposit's archives have too many members or too large paths: no deposit with as many is accepted.",
};

/**
 * Reads the domain of a client, as it was at the position or has become since: from the view of this node, or from the
 * log while the view is older.
 */
async function domainOf(
  client: string,
  position: Position,
  { log, logins, views }: CheckParts,
): Promise<string | null> {
  try {
    if (!isBefore(views.position, position)) return logins.get(client)?.domain ?? null;
  } catch {
    // Views can be damaged; the log has the domain, too.
  }
  const { state } = await readState(log, clients, client);
  return state.status === 'unknown' ? null : state.domain;
}

/** Converts a file-system error into the error of the object; returns any other error unchanged. */
function objectErrorOf(error: unknown, sha256: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || isTransient(error)) return error;
  return code === 'ENOENT' ? new ObjectMissing(sha256) : new ObjectUnreadable(sha256, code, { cause: error });
}
