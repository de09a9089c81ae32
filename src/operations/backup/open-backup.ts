import type { EventLog } from '../../event-log/event-log.ts';
import type { StoreAudit } from '../../object-store/object-store.ts';
import { BackendNotFound } from '../../service/backends/backend-not-found.ts';
import { openStoreToRead } from '../../service/backends/open-audits.ts';
import { openLog } from '../../service/backends/open-log.ts';
import { refused } from '../command/command.ts';
import { backupPlaces } from './backup-folder.ts';

/** Opens the log of a backup, which may be on a read-only disk or belong to another user. */
export function openBackupLog(folder: string): Promise<EventLog> {
  const log = openLog(backupPlaces(folder), { readOnly: true, mustExist: true });
  return log.catch(refuseWithout(folder, 'event log'));
}

/** Opens the objects of a backup like its log. One that has lost its small objects still has the others. */
export function openBackupStore(folder: string): Promise<StoreAudit> {
  const store = openStoreToRead(backupPlaces(folder), { mayMissRows: true });
  return store.catch(refuseWithout(folder, 'archives'));
}

/** Returns a handler that names the folder: no setting says where the parts of a backup are. */
function refuseWithout(folder: string, part: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof BackendNotFound)) throw error;
    throw refused('NO_BACKUP', `The backup ${folder} has no ${part}.`);
  };
}
