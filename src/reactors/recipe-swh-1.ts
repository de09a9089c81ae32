import type { Overlay } from '../archives/inspection.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import { revisionDates } from '../domain/deposit/metadata/revision-dates.ts';
import type { Verified } from '../domain/deposit/state.ts';
import { depositRevision } from '../swhid/deposit-revision.ts';
import { revisionId } from '../swhid/revision.ts';
import { snapshotId } from '../swhid/snapshot.ts';

/**
 * Returns the outcome of loading by the recipe `swh-1`. Revision and snapshot depend on events alone, so a replay
 * computes the same.
 * `manifest` is the digest of the manifest of the merged archives; `identity` becomes author and committer of the
 * revision.
 */
export function loadedEvent(
  deposit: Verified,
  overlay: Extract<Overlay, { outcome: 'accepted' }>,
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
  const { directory, files, bytes } = overlay;
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
