import { mkdir } from 'node:fs/promises';
import { Administration } from '../src/administration.ts';
import { readConfig } from '../src/config.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { openLog } from '../src/service.ts';

/** Registers the client `drill` with the password `drill`, who may deposit in the collection `drill`. */
export async function registerDrill(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }));
  const administration = new Administration(log, { kind: 'operator', name: 'drill' });
  await administration.registerClient('drill', 'drill');
  await administration.grant('drill', 'drill');
}

/** Resolves when every deposit that was completed has come to its end. */
export async function settled(dataDir: string): Promise<void> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }));
  while ((await underWay(log)) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function underWay(log: EventLog): Promise<number> {
  const open = new Set<string>();
  for await (const { stream, type } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'DepositCompleted') open.add(stream);
    if (['DepositRejected', 'DepositLoaded', 'LoadingFailed'].includes(type)) open.delete(stream);
  }
  return open.size;
}
