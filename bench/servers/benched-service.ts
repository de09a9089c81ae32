import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { ServerProcess } from './server-process.ts';

/** The credentials and the collection of every service that is measured. */
export const CLIENT = { name: 'bench', password: 'secret', collection: 'software' } as const;
export const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT.name}:${CLIENT.password}`).toString('base64')}`;

export type BenchedOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments before the program, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[];
  /** The checkout whose service is started; by default, this one. */
  readonly release?: string;
};

const THIS_RELEASE = path.join(import.meta.dirname, '..', '..');

/** Registers the client in the embedded log of a new folder. */
export async function prepareFolder(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await using log = await SqliteEventLog.open({ file: path.join(dataDir, 'event-log.sqlite') });
  await registerIn(log);
}

export async function registerIn(log: EventLog): Promise<void> {
  const administration = new AdminCommands(log, { kind: 'operator', name: 'bench' });
  await administration.registerClient(CLIENT.name, CLIENT.password);
  await administration.grant(CLIENT.name, CLIENT.collection);
}

/** Starts the service on a folder in which the client is registered. */
export async function startBenched(
  dataDir: string,
  { env = {}, nodeArgs = [], release = THIS_RELEASE }: BenchedOptions = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const settings = {
    DEPOSIT_DATA_DIR: dataDir,
    DEPOSIT_PORT: String(port),
    DEPOSIT_LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: path.join(tmpdir(), 'deposit-compile-cache'), // as at a later start of the same folder
    ...env,
  };
  return ServerProcess.start({
    args: [...nodeArgs, path.join(release, 'src', 'main.ts')],
    env: settings,
    port,
    readyPath: '/health/ready',
  });
}
