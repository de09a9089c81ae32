import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../src/config.ts';
import { isThere } from '../src/permission.ts';
import { replaceFile } from '../src/replace-file.ts';
import { clock } from '../src/tools/clock.ts';

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

/** `undefined` when the folder holds no backup that was ever whole, or the file that says so is damaged. */
export function readBackup(folder: string): BackupFacts | undefined {
  const file = path.join(folder, 'backup.json');
  if (!isThere(file)) return undefined;
  const facts = factsIn(readFileSync(file, 'utf8'));
  return Number.isSafeInteger(facts?.events) ? facts : undefined;
}

function factsIn(text: string): BackupFacts | undefined {
  try {
    return JSON.parse(text) as BackupFacts;
  } catch {
    return undefined;
  }
}

export async function finishBackup(folder: string, facts: Omit<BackupFacts, 'finishedAt'>): Promise<void> {
  const text = JSON.stringify({ finishedAt: clock.date().toISOString(), ...facts });
  await replaceFile(path.join(folder, 'backup.json'), `${text}\n`, { durable: true });
}
