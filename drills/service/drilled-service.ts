import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { TestClient } from '../../testing/http/test-client.ts';

/** A password that is used nowhere else: the scan for secrets searches for it in all files that drills leave behind. */
export const DRILL_PASSWORD = 'Pa55-of-the-drill-71c0';

/**
 * Registers the client `drill` with {@link DRILL_PASSWORD}, who may deposit in the collection `drill`; `env` selects
 * another log.
 */
export async function registerDrill(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await using log = await openLog(readConfig({ ...env, DEPOSIT_DATA_DIR: dataDir }));
  await registerIn(log, 'drill', DRILL_PASSWORD);
}

/** Registers a client who may deposit in the collection `drill`. */
export async function registerIn(log: EventLog, client: string, password: string): Promise<void> {
  const administration = new AdminCommands(log, { kind: 'operator', name: 'drill' });
  await administration.registerClient(client, password);
  await administration.grant(client, 'drill');
}

/**
 * Creates a folder with the client `drill` registered. Disposal removes it.
 */
export async function drilledFolder(name: string): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const folder = await scratchFolder(name);
  await registerDrill(folder.path);
  return { dataDir: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** A folder that disposal removes. */
export type Scratch = AsyncDisposable & { readonly path: string };

/** Creates an empty folder. */
export async function scratchFolder(name: string): Promise<Scratch> {
  const folder = await mkdtemp(path.join(tmpdir(), `deposit-${name}-`));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Returns the client that {@link drilledFolder} registers. */
export function drillClient(url: string): TestClient {
  return new TestClient(url, 'drill', DRILL_PASSWORD);
}

/** Resolves when every completed deposit is settled, or after that many milliseconds; to the deposits that are not. */
export async function unsettled(
  dataDir: string,
  timeLimit: number,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  await using log = await openLog(readConfig({ ...env, DEPOSIT_DATA_DIR: dataDir }), { readOnly: true });
  const deadline = performance.now() + timeLimit;
  for (;;) {
    const open = await underWay(log);
    if (open.size === 0 || performance.now() > deadline) return [...open];
    await pause(200);
  }
}

/** Resolves to the completed deposits that are not settled now. */
export async function openDeposits(env: Readonly<Record<string, string>>): Promise<string[]> {
  await using log = await openLog(readConfig({ ...env }), { readOnly: true });
  return [...(await underWay(log))];
}

/** Resolves when every completed deposit is settled. */
export async function settled(dataDir: string): Promise<void> {
  await unsettled(dataDir, Infinity);
}

async function underWay(log: EventLog): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  for await (const { stream, type } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type === 'DepositCompleted' || type === 'ChecksRetried' || type === 'LoadingRetried')
      open.add(stream);
    if (['DepositRejected', 'DepositLoaded', 'LoadingFailed'].includes(type)) open.delete(stream);
  }
  return open;
}
