import type { ArchiveStore } from '../src/archive-store/archive-store.ts';
import type { Config } from '../src/config.ts';
import { enginePlaces, openExistingLog, openExistingStore } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { RunningService } from '../src/operator/running-service.ts';
import { refused } from './command.ts';

/**
 * The log of the service, for commands: it is there already, and where a service runs on the data folder it is that
 * service's. With settings that are not the service's, a command would see or change something else.
 */
export async function openServiceLog(config: Config): Promise<EventLog> {
  await assertOfTheService(config, 'eventLog');
  return await openExistingLog(config);
}

/** The archive store of the service, likewise. */
export async function openServiceStore(config: Config): Promise<ArchiveStore> {
  await assertOfTheService(config, 'archiveStore');
  return await openExistingStore(config);
}

const SETTING = { eventLog: 'DEPOSIT_EVENT_LOG', archiveStore: 'DEPOSIT_ARCHIVE_STORE' } as const;

async function assertOfTheService(config: Config, engine: keyof typeof SETTING): Promise<void> {
  const service = await RunningService.find(config.dataDir);
  if (!service) return;
  const [its, here] = [(await service.state()).engines[engine], enginePlaces(config)[engine]];
  if (its === here) return;
  throw refused(
    'OTHER_ENGINE',
    `The service on ${config.dataDir} works on ${its}, this command would work on ${here}: give it the same ${SETTING[engine]}.`,
  );
}
