import type { Config } from '../../config/config.ts';
import { clients, deposits } from '../../domain/aggregates.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { ObjectStore, StoreAudit } from '../../object-store/object-store.ts';
import { BackendNotFound } from '../../service/backends/backend-not-found.ts';
import { enginePlaces, logIdentity } from '../../service/backends/engine-places.ts';
import { openStoreToRead } from '../../service/backends/open-audits.ts';
import { type LogOptions, openLog } from '../../service/backends/open-log.ts';
import { openStore } from '../../service/backends/open-store.ts';
import { boundStore } from '../../service/backends/store-binding.ts';
import { assertNoUnfinishedCopy } from '../../service/backends/unfinished-copy.ts';
import {
  ControlClient,
  OperatorRefusal,
  ServiceNotResponding,
} from '../../service/operator-port/control-client.ts';
import { OperatorFileDamaged } from '../../service/operator-port/control-file.ts';
import { exists, NotPermitted } from '../../tools/files/access.ts';
import { refused } from './command.ts';
import { warn } from './output.ts';

const found = new WeakMap<Pick<Config, 'dataDir'>, Promise<ControlClient | undefined>>();

/** Returns {@link ControlClient.find} for the configuration, called once per command. */
export function serviceOn(config: Pick<Config, 'dataDir'>): Promise<ControlClient | undefined> {
  return found.getOrInsertComputed(config, ({ dataDir }) => ControlClient.find(dataDir));
}

/**
 * Opens the log of the service for a command. The log must exist, and must be that of a service that runs on the data
 * folder: with other settings, a command would read or change something else. A copy into the log must not be unfinished.
 * A server has an empty log where another one should be, for instance without its volume: nothing is appended there.
 */
export async function openServiceLog(
  config: Config,
  { readOnly = false }: Pick<LogOptions, 'readOnly'> = {},
): Promise<EventLog> {
  await assertNoUnfinishedCopy(config.eventLog);
  await assertOf(config, 'eventLog');
  await using opened = new AsyncDisposableStack();
  const log = opened.use(await openLog(config, { mustExist: true, readOnly }));
  const { eventLog } = config;
  if (!readOnly && eventLog.kind !== 'sqlite' && !(await isOfService(log)))
    throw new BackendNotFound(
      `The event log at ${logIdentity(eventLog)} belongs to no service yet, or its server lacks its data.`,
      'A service has to start on it first; DEPOSIT_EVENT_LOG says where it is.',
    );
  opened.move();
  return log;
}

/** Whether a service has started on the log, or one of 0.1.0, which did not bind log and store to each other. */
async function isOfService(log: EventLog): Promise<boolean> {
  if ((await boundStore(log)) !== undefined) return true;
  for await (const _ of log.readAll({ streamPrefixes: [clients.prefix, deposits.prefix] })) return true;
  return false;
}

/** Opens the log for commands that only read, with a warning if the service cannot be asked. */
export async function openLogReadOnly(config: Config): Promise<EventLog> {
  const note = await assertEnginesOfService(config, 'eventLog');
  if (note !== undefined) warn(note);
  return await openLog(config, { readOnly: true, mustExist: true });
}

/** Opens the archive store of the service, with the same checks as for the log. */
export async function openServiceStore(config: Config): Promise<ObjectStore> {
  await assertOf(config, 'archiveStore');
  return await openStore(config, { mustExist: true });
}

/** Opens the archive store of the service like {@link openStoreToRead}, with the same checks as for the log. */
export async function openServiceStoreToRead(config: Config): Promise<StoreAudit> {
  await assertOf(config, 'archiveStore');
  return await openStoreToRead(config);
}

const SETTING = { eventLog: 'DEPOSIT_EVENT_LOG', archiveStore: 'DEPOSIT_ARCHIVE_STORE' } as const;
type Engine = keyof typeof SETTING;

/** The settings that are compared with the service. */
export type EngineSettings = Pick<Config, 'dataDir' | 'eventLog' | 'archiveStore'>;

/**
 * Checks that the backends are those of a service that runs on the data folder and answers; for commands that only
 * read, which may run as a user without access to the service. Resolves to the reason if the service could not be
 * asked.
 * @throws {NotPermitted} the backends themselves are not readable
 */
export async function assertEnginesOfService(
  config: EngineSettings,
  ...engines: readonly Engine[]
): Promise<string | undefined> {
  for (const engine of engines) {
    const place = placeOf(config, engine);
    if (place !== undefined) exists(place);
  }
  try {
    for (const engine of engines) await assertOf(config, engine);
    return undefined;
  } catch (error) {
    if (!isServiceUnknown(error) && !(error instanceof NotPermitted)) throw error;
    return `Whether a service runs on ${config.dataDir}, and on what, could not be asked: ${error.message}`;
  }
}

/** Whether the error leaves it unknown what the service does, if one runs. */
export function isServiceUnknown(error: unknown): error is Error {
  return [OperatorFileDamaged, ServiceNotResponding, OperatorRefusal].some((kind) => error instanceof kind);
}

function placeOf({ eventLog, archiveStore }: EngineSettings, engine: Engine): string | undefined {
  if (engine === 'eventLog') return eventLog.kind === 'sqlite' ? eventLog.file : undefined;
  return archiveStore.kind === 'file' ? archiveStore.folder : undefined;
}

/** Refuses an engine that is not that of a service which runs on the data folder. */
async function assertOf(config: EngineSettings, engine: Engine): Promise<void> {
  const service = await serviceOn(config);
  if (!service) return;
  const [its, here] = [(await service.stateWhenFound()).engines[engine], enginePlaces(config)[engine]];
  if (its === here) return;
  throw refused(
    'OTHER_ENGINE',
    `The service on ${config.dataDir} works on ${its}, this command would work on ${here}: give it the same ${SETTING[engine]}.`,
  );
}
