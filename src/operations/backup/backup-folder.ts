import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { enginePlaces } from '../../service/backends/engine-places.ts';
import { clock } from '../../tools/clock.ts';
import { exists } from '../../tools/files/access.ts';
import { databaseFiles, makePrivate } from '../../tools/files/private-files.ts';
import { writeFileAtomic } from '../../tools/files/write-file-atomic.ts';
import { files } from '../../tools/files.ts';
import { parseJson } from '../../tools/parse-json.ts';
import { refused } from '../command/command.ts';

/** Facts about a backup, written once it is complete. */
export type BackupFacts = { readonly finishedAt: string; readonly events: number; readonly objects: number };

/** Returns the configuration of log and archives in a backup, whose folder has the layout of a data folder. */
export function backupPlaces(folder: string): Pick<Config, 'eventLog' | 'archiveStore' | 'dataDir'> {
  return {
    eventLog: { kind: 'sqlite', file: path.join(folder, 'event-log.sqlite') },
    archiveStore: { kind: 'file', folder: path.join(folder, 'archives') },
    dataDir: folder,
  };
}

/** Refuses a backup whose log or objects are those of the settings, which would be copied onto themselves. */
export function assertApart(folder: string, config: Pick<Config, 'eventLog' | 'archiveStore'>): void {
  const [backup, service] = [enginePlaces(backupPlaces(folder)), enginePlaces(config)];
  for (const engine of ['eventLog', 'archiveStore'] as const) {
    if (backup[engine] !== service[engine]) continue;
    const text = `${backup[engine]} would be both in the backup and in use by the service: give another folder.`;
    throw refused('BACKUP_IN_USE', text);
  }
}

/**
 * Makes files readable only for their owner that an earlier release wrote for all: the log with the digests of
 * passwords, and small objects.
 */
export function keepBackupPrivate({ eventLog, dataDir }: Pick<Config, 'eventLog' | 'dataDir'>): void {
  const log = eventLog.kind === 'sqlite' ? eventLog.file : path.join(dataDir, 'event-log.sqlite');
  const databases = [log, path.join(dataDir, 'archives', 'small.sqlite')];
  makePrivate(...databases.flatMap(databaseFiles), path.join(dataDir, 'backup.json'));
}

/** Returns the facts; `undefined` if the backup was never complete, or the file with the facts is corrupt. */
export function readBackup(folder: string): BackupFacts | undefined {
  const file = path.join(folder, 'backup.json');
  if (!exists(file)) return undefined;
  const facts = parseJson(files.readFileSync(file, 'utf8')) as BackupFacts | null | undefined;
  return facts && Number.isSafeInteger(facts.events) ? facts : undefined;
}

export async function finishBackup(folder: string, facts: Omit<BackupFacts, 'finishedAt'>): Promise<void> {
  const text = JSON.stringify({ finishedAt: clock.date().toISOString(), ...facts });
  await writeFileAtomic(path.join(folder, 'backup.json'), `${text}\n`, { durable: true });
}
