import { clientLogins } from '../../projections/client-logins.ts';
import { collections } from '../../projections/collections.ts';
import { depositStatus } from '../../projections/deposit-status.ts';
import { loadedObjects } from '../../projections/loaded-objects.ts';
import { MemberReaders } from '../archives/threads/member-readers.ts';
import type { EventLogConfig } from '../config.ts';
import { DepositIds } from '../deposit-ids.ts';
import { openDryRuns } from '../dry-runs/open-dry-runs.ts';
import type { ClientOptions } from '../http/app.ts';
import { Credentials } from '../http/credentials.ts';
import { DepositDesk } from '../http/deposit-desk.ts';
import { EventStreams } from '../http/events/event-streams.ts';
import { RETRY_LIMITS, type RetryLimits } from '../outage-retries.ts';
import type { ProjectorProgress } from '../read-models/projector.ts';
import { LoadedDeposits } from '../resolving/loaded-deposits.ts';
import { ObjectBytes } from '../resolving/object-bytes.ts';
import { Resolver } from '../resolving/resolver.ts';
import { openUploads } from '../uploads/open-uploads.ts';
import type { Node } from './node.ts';
import { passwordRenewal } from './password-renewal.ts';
import { assertUpToDate } from './views-up-to-date.ts';

/** The views of this node, and the desk where requests meet the log. */
export async function serveClients(
  { config, log, store, logger, resources, projector, notified, traced, fail }: Node,
  about: Pick<ClientOptions, 'baseUrl' | 'generator'>,
  progress?: ProjectorProgress,
) {
  const uploads = resources.use(await openUploads(config, logger));
  const dryRuns = resources.use(
    await openDryRuns(
      config,
      (reader) => traced.reader(reader),
      (err, archives) => logger.warn({ archives, err }, 'check of a dry run aborted'),
    ),
  );
  const readers = resources.use(new MemberReaders());
  const statuses = projector.add(depositStatus);
  const objects = projector.add(loadedObjects);
  const loaded = new LoadedDeposits(objects, projector.queriesOf(loadedObjects.name), log);
  const [limits, isShared] = [retryLimits(config.eventLog), config.eventLog.kind !== 'sqlite'];
  const parts = {
    desk: new DepositDesk(log, new DepositIds(log, limits), projector, isShared, limits),
    credentials: new Credentials(projector.add(clientLogins), passwordRenewal(log, logger)),
    collections: projector.add(collections),
    eventStreams: new EventStreams({ log, projector, statuses }),
    resolver: new Resolver({ deposits: loaded, log, store }),
    objects: new ObjectBytes({ store, readers, limits: config.archiveLimits }),
  };
  let caughtUp = false;
  const ready = projector.start(fail, progress).then(() => {
    caughtUp = true;
  });
  const options: ClientOptions & typeof config = {
    ...config,
    ...about,
    ...parts,
    store,
    notified,
    uploads,
    dryRuns,
    ready: () => caughtUp && !projector.isHalted,
  };
  const upToDate = async (): Promise<void> => {
    if (!caughtUp) throw new Error(projector.trouble ?? 'they catch up with the event log.');
    await assertUpToDate(projector, log);
  };
  return { ready, projector, statuses, options, upToDate };
}

/** Requests retry within the limits of the event log itself. */
function retryLimits(eventLog: EventLogConfig): RetryLimits {
  if (eventLog.kind === 'sqlite') return RETRY_LIMITS;
  const { patience: timeLimit, longestPause } = {
    ...RETRY_LIMITS,
    patience: RETRY_LIMITS.timeLimit,
    ...eventLog,
  };
  return { ...RETRY_LIMITS, timeLimit, longestPause };
}
