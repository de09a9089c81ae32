import { clientLogins } from '../../projections/client-logins.ts';
import { collections } from '../../projections/collections.ts';
import { depositStatus } from '../../projections/deposit-status.ts';
import { ArchiveWorkers } from '../archives/workers/archive-workers.ts';
import type { Config, EventLogConfig } from '../config/config.ts';
import { LoadedDeposits } from '../contents/loaded-deposits.ts';
import { MAX_READS, ObjectReader } from '../contents/object-reader.ts';
import { Resolver } from '../contents/resolver.ts';
import { AdminCommands } from '../deposits/admin-commands.ts';
import { openDeposits } from '../deposits/client-write.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { RETRY_LIMITS, type RetryLimits } from '../event-log/outage-retries.ts';
import type { ServingOptions } from '../http/app.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import { Credentials, type RenewPassword } from '../http/middleware/credentials.ts';
import type { Module } from '../modules/module.ts';
import type { Logger } from '../tools/logger.ts';
import type { ProjectorProgress } from '../views/projector.ts';
import type { NodeResources } from './open-node.ts';

/** Maximum number of characters of the name in the log line of a failed login. */
const MAX_LOGGED_NAME = 100;

/** A manifest of a million paths needs 200: the thread that creates manifests has no space for more in its own heap. */
const READ_HEAP_MEGABYTES = 256;

/** Opens the views, modules and services that requests of clients need. */
export async function serveClients(
  node: NodeResources,
  baseUrl: string,
  modules: readonly Module[],
  progress?: ProjectorProgress,
) {
  const { config, log, store, logger, resources, projector, fail } = node;
  const served = [];
  for (const module of modules) served.push(await module.serve?.(node));
  const workers = resources.use(
    new ArchiveWorkers({
      name: 'client-reader',
      size: MAX_READS,
      heapMegabytes: READ_HEAP_MEGABYTES,
      isBackground: false,
    }),
  );
  const statuses = projector.add(depositStatus);
  const loaded = new LoadedDeposits(log, projector);
  const objectReader = new ObjectReader({ store, workers, limits: config.archiveLimits });
  const options: ServingOptions = {
    ...httpSettings(config),
    baseUrl,
    store,
    deposits: openDeposits({
      log,
      projector,
      isShared: config.eventLog.kind !== 'sqlite',
      maxArchives: config.maxArchives,
      limits: retryLimits(config.eventLog),
      kept: node.kept,
    }),
    credentials: new Credentials(projector.add(clientLogins), passwordRenewal(log, logger), {
      cost: config.passwordCost,
      onFailed: (name, address) =>
        logger.info({ client: name.slice(0, MAX_LOGGED_NAME).toWellFormed(), address }, 'login failed'),
    }),
    collections: projector.add(collections),
    resolver: new Resolver({ deposits: loaded, log, store, search: objectReader }),
    objects: objectReader,
    modules: served.filter((module) => module !== undefined),
  };
  return { ready: projector.start(fail, progress), statuses, options };
}

/** Returns what HTTP needs of the configuration, which also has the keys of an S3 store. */
function httpSettings(config: Config): HttpSettings {
  const { depositNamespace, refIdAliases, maxUploadSize, maxEntrySize, maxParts } = config;
  const { archiveLimits, xmlLimits, bodyTimeouts, maxWrites, trustProxy } = config;
  return {
    depositNamespace,
    refIdAliases,
    maxUploadSize,
    archiveLimits,
    maxEntrySize,
    maxParts,
    xmlLimits,
    bodyTimeouts,
    maxWrites,
    trustProxy,
  };
}

/** Stores the digest of a verified password at the current cost; a failure is logged. */
function passwordRenewal(log: EventLog, logger: Logger): RenewPassword {
  const administration = new AdminCommands(log, { kind: 'service', name: 'login' });
  return async ({ client, credentialRevision }, credential) => {
    await administration.renewPassword(client, credential, credentialRevision).catch((error: unknown) => {
      logger.warn({ err: error, client }, 'password rehash failed');
    });
  };
}

/** Requests retry within the limits of the event log itself. */
function retryLimits(eventLog: EventLogConfig): RetryLimits {
  if (eventLog.kind === 'sqlite') return RETRY_LIMITS;
  const { retryTimeout: timeLimit = RETRY_LIMITS.timeLimit, longestPause = RETRY_LIMITS.longestPause } =
    eventLog;
  return { ...RETRY_LIMITS, timeLimit, longestPause };
}
