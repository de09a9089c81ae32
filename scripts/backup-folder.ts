import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../src/config.ts';

/** What a backup holds, written when it is whole. */
export type BackupFacts = { readonly finishedAt: string; readonly events: number; readonly objects: number };

/** Log and archives of a backup lie in its folder as they would in a data folder. */
export function backupPlaces(folder: string): Pick<Config, 'eventLog' | 'archiveStore' | 'dataDir'> {
  return {
    eventLog: { kind: 'sqlite', file: path.join(folder, 'event-log.sqlite') },
    archiveStore: { kind: 'file', folder: path.join(folder, 'archives') },
    dataDir: folder,
  };
}

/** `undefined` when the folder holds no backup that was ever whole. */
export function readBackup(folder: string): BackupFacts | undefined {
  const file = path.join(folder, 'backup.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BackupFacts) : undefined;
}

export function finishBackup(folder: string, facts: Omit<BackupFacts, 'finishedAt'>): void {
  const file = path.join(folder, 'backup.json');
  const text = JSON.stringify({ finishedAt: new Date().toISOString(), ...facts });
  writeFileSync(`${file}.new`, `${text}\n`, { flush: true });
  renameSync(`${file}.new`, file);
}

/** Keys that the service has made for itself, with their permissions. */
export function copyKeys(from: string, to: string): void {
  if (!existsSync(path.join(from, 'keys'))) return;
  mkdirSync(path.join(to, 'keys'), { recursive: true, mode: 0o700 });
  cpSync(path.join(from, 'keys'), path.join(to, 'keys'), { recursive: true });
}
