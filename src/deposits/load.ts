import type { ArchiveReader, Tree } from '../archives/archive-reader.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import { revisionDates } from '../domain/deposit/metadata/revision-dates.ts';
import type { Deposit, Verified, Waiting } from '../domain/deposit/state.ts';
import { toBuffer, toChunks } from '../object-store/chunks.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { depositRevision } from '../swhid/deposit-revision.ts';
import { revisionId } from '../swhid/revision.ts';
import { snapshotId } from '../swhid/snapshot.ts';

export type LoadParts = {
  readonly store: ObjectStore;
  readonly reader: Pick<ArchiveReader, 'merge'>;
  /** Author and committer of the revisions: `Name <mail@host>`. */
  readonly identity: string;
};

/** A deposit whose loading has to start or to continue. */
export type ToLoad = Extract<Waiting, { status: 'verified' | 'loading' }>;
/** Records a step of loading by a command; resolves to the deposit after it. */
type RecordStep = (command: DepositCommand, step: string) => Promise<Deposit>;

/** Loads a verified deposit, that is, computes its identifiers: `verified` → `loading` → `done` or `failed`. */
export async function loadDeposit(
  { store, reader, identity }: LoadParts,
  toLoad: ToLoad,
  record: RecordStep,
): Promise<void> {
  const listings = []; // the deposit stays verified while they cannot be read
  for (const { archive, listing } of toLoad.readings) {
    const { body, length } = await store.get(listing);
    listings.push({ sha256: archive, listing: await toBuffer(body, length) });
  }
  const deposit = await startLoading(toLoad, record);
  if (!deposit) return;
  const merged = await reader.merge(listings, deposit.client);
  if (merged.outcome === 'refused') {
    const text = merged.faults.map((fault) => fault.text).join(' ');
    await recordFailure(deposit, merged.faults[0]?.code ?? 'REFUSED', text, record);
    return;
  }
  const manifest = await store.put(toChunks(merged.manifest));
  const loaded = loadedData(deposit, merged, manifest.sha256, identity);
  await record({ type: 'RecordLoaded', loaded }, 'load');
}

/** Returns the commands that load a deposit as soon as it is verified, each for the deposit as those before it leave it. */
export function loadingCommands(
  tree: Tree,
  manifest: string,
  identity: string,
): { readonly step: string; readonly commandFor: (deposit: Deposit) => DepositCommand }[] {
  return [
    {
      step: 'start',
      commandFor: (deposit) => {
        const { depositId, loadAttempt: attempt } = deposit as Verified; // the command before verified it
        return { type: 'StartLoading', depositId, attempt };
      },
    },
    {
      step: 'load',
      commandFor: (deposit) => ({
        type: 'RecordLoaded',
        loaded: loadedData(deposit as Verified, tree, manifest, identity), // as above
      }),
    },
  ];
}

export async function failLoading(toLoad: ToLoad, text: string, record: RecordStep): Promise<void> {
  const deposit = await startLoading(toLoad, record);
  if (deposit) await recordFailure(deposit, 'LOADING_IMPOSSIBLE', text, record);
}

/** Resolves to the deposit once it is loading; an earlier, interrupted attempt may have started that. */
async function startLoading(toLoad: ToLoad, record: RecordStep) {
  if (toLoad.status === 'loading') return toLoad;
  const { depositId, loadAttempt: attempt } = toLoad;
  const deposit = await record({ type: 'StartLoading', depositId, attempt }, 'start');
  return deposit.status === 'loading' ? deposit : undefined;
}

async function recordFailure(
  { depositId, loadAttempt: attempt }: ToLoad,
  code: string,
  text: string,
  record: RecordStep,
): Promise<void> {
  const reason = { code, text, fields: ['archive'] };
  await record({ type: 'RecordLoadingFailed', depositId, attempt, reason }, 'fail');
}

/**
 * Returns the outcome of loading by the recipe `swh-1`. Revision and snapshot depend on events alone, so a replay
 * computes the same.
 * `manifest` is the digest of the manifest of the merged archives; `identity` becomes author and committer of the
 * revision.
 */
export function loadedData(
  deposit: Verified,
  tree: Tree,
  manifest: string,
  identity: string,
): DepositLoaded['data'] {
  const {
    depositId,
    client,
    collection,
    entries,
    completedAt,
    origin,
    archives,
    loadAttempt: attempt,
  } = deposit;
  const { directory, files, bytes } = tree;
  const { author: authorDate, committer: committerDate } = revisionDates(entries, completedAt);
  const revision = revisionId(
    depositRevision({ client, depositId, collection, directory, identity, authorDate, committerDate }),
  );
  const snapshot = snapshotId([{ name: 'HEAD', targetType: 'revision', target: revision }]);
  return {
    depositId,
    attempt,
    policy: 'swh-1',
    directory,
    revision,
    snapshot,
    origin,
    identity,
    authorDate,
    committerDate,
    archives: archives.map(({ sha256 }) => sha256),
    files,
    bytes,
    manifest,
  };
}
