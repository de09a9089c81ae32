import type { ArchiveStore } from '../src/archive-store/archive-store.ts';
import type { Config } from '../src/config.ts';
import { enginePlaces, openExistingLog, openExistingStore } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { OperatorFileDamaged } from '../src/operator/operator-file.ts';
import { OperatorRefusal, RunningService, ServiceSilent } from '../src/operator/running-service.ts';
import { isThere, NotPermitted } from '../src/permission.ts';
import { refused, warn } from './command.ts';

const found = new WeakMap<Pick<Config, 'dataDir'>, Promise<RunningService | undefined>>();

/** {@link RunningService.find}, asked once by a command, which has its configuration once. */
export function serviceOn(config: Pick<Config, 'dataDir'>): Promise<RunningService | undefined> {
  return found.getOrInsertComputed(config, ({ dataDir }) => RunningService.find(dataDir));
}

/**
 * The log of the service, for commands: it is there already, and where a service runs on the data folder it is that
 * service's. With settings that are not the service's, a command would see or change something else.
 */
export async function openServiceLog(config: Config): Promise<EventLog> {
  const service = await serviceOn(config);
  if (service) await assertOf(service, config, 'eventLog');
  return await openExistingLog(config);
}

/** For commands that only look: where the service cannot be asked, that is told, and the log is read all the same. */
export async function openLogToLook(config: Config): Promise<EventLog> {
  const note = await whetherOfTheService(config, 'eventLog');
  if (note !== undefined) warn(note);
  return await openExistingLog(config, { readOnly: true });
}

/** The archive store of the service, like its log. */
export async function openServiceStore(config: Config): Promise<ArchiveStore> {
  const service = await serviceOn(config);
  if (service) await assertOf(service, config, 'archiveStore');
  return await openExistingStore(config);
}

const SETTING = { eventLog: 'DEPOSIT_EVENT_LOG', archiveStore: 'DEPOSIT_ARCHIVE_STORE' } as const;
type Engine = keyof typeof SETTING;

/** Those that settings say, as far as they are compared. */
export type EngineSettings = Pick<Config, 'dataDir' | 'eventLog' | 'archiveStore'>;

/**
 * For commands that only look, also as somebody who may not ask the service: where one runs on the data folder and can
 * be asked, the engines are that service's. Resolves to why it could not be asked, in a sentence.
 * @throws {NotPermitted} the engines themselves may not be read
 */
export async function whetherOfTheService(
  config: EngineSettings,
  ...engines: readonly Engine[]
): Promise<string | undefined> {
  for (const engine of engines) {
    const place = placeOf(config, engine);
    if (place !== undefined) isThere(place);
  }
  try {
    const service = await serviceOn(config);
    if (service) for (const engine of engines) await assertOf(service, config, engine);
    return undefined;
  } catch (error) {
    if (!isOfAsking(error)) throw error;
    return `Whether a service runs on ${config.dataDir}, and on what, could not be asked: ${error.message}`;
  }
}

/** Whether one runs is not known. */
function isOfAsking(error: unknown): error is Error {
  return [NotPermitted, OperatorFileDamaged, ServiceSilent, OperatorRefusal].some(
    (kind) => error instanceof kind,
  );
}

function placeOf({ eventLog, archiveStore }: EngineSettings, engine: Engine): string | undefined {
  if (engine === 'eventLog') return eventLog.kind === 'sqlite' ? eventLog.file : undefined;
  return archiveStore.kind === 'file' ? archiveStore.folder : undefined;
}

async function assertOf(service: RunningService, config: EngineSettings, engine: Engine): Promise<void> {
  const [its, here] = [(await service.told()).engines[engine], enginePlaces(config)[engine]];
  if (its === here) return;
  throw refused(
    'OTHER_ENGINE',
    `The service on ${config.dataDir} works on ${its}, this command would work on ${here}: give it the same ${SETTING[engine]}.`,
  );
}
