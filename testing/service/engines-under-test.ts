import { chmodSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config, EventStoreDbTimes } from '../../src/config/config.ts';
import type { EventStoreDbDouble } from '../eventstoredb-double/eventstoredb-double.ts';
import type { S3Server } from '../s3/s3-server.ts';

/** Engines for the services of this test process, by the folder of each service; embedded ones need none. */
type Engines = AsyncDisposable & { readonly config: Partial<Config>; readonly s3: S3Server };
const byFolder = new Map<string, Engines>();
let kind: 'embedded' | 'distributed' = 'embedded';

/** Makes services of this process use EventStoreDB (its double) and S3 from now on. */
export function useDistributedEngines(): void {
  kind = 'distributed';
}

/** Resolves to the engines of the service in this folder, the same ones after a restart. */
export async function enginesFor(folder: string): Promise<Partial<Config>> {
  if (kind === 'embedded') return {};
  const known = byFolder.get(folder);
  if (known) return known.config;
  const started = await startDistributed();
  byFolder.set(folder, started);
  return started.config;
}

export async function stopEnginesFor(folder: string): Promise<void> {
  await byFolder.get(folder)?.[Symbol.asyncDispose]();
  byFolder.delete(folder);
}

/** Changes the bytes of an object of the service in this folder, too large for `small.sqlite`, as a bad disk does. */
export async function damageObject(folder: string, sha256: string, change: (bytes: Buffer) => void) {
  const damaged = (bytes: Buffer): Buffer => {
    change(bytes);
    return bytes;
  };
  const s3 = byFolder.get(folder)?.s3;
  if (s3 === undefined) {
    const file = path.join(folder, globSync(`**/${sha256}`, { cwd: folder })[0] ?? sha256);
    chmodSync(file, 0o600);
    return writeFileSync(file, damaged(readFileSync(file)));
  }
  const bucket = s3.buckets.get('deposits');
  const [key = sha256] = bucket?.objects.keys().filter((name) => name.endsWith(sha256)) ?? [];
  await s3.damage(bucket ?? s3.makeBucket('unused'), key, damaged);
}

/** Starts the doubles, which are loaded here: most test files need none, and gRPC takes long to load. */
async function startDistributed(): Promise<Engines> {
  const [{ EventStoreDbDouble }, { S3Server }] = await Promise.all([
    import('../eventstoredb-double/eventstoredb-double.ts'),
    import('../s3/s3-server.ts'),
  ]);
  await using starting = new AsyncDisposableStack();
  const double = starting.use(await EventStoreDbDouble.start());
  const s3 = starting.use(await S3Server.start());
  const running = starting.move();
  const config = distributedEngines(double, s3);
  return { config, s3, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** `port`: port of the store, if not its own. */
export function distributedEngines(
  { connectionString }: EventStoreDbDouble,
  s3: S3Server,
  { port = s3.port, times = {} }: { readonly port?: number; readonly times?: EventStoreDbTimes } = {},
): Pick<Config, 'eventLog' | 'archiveStore'> {
  return {
    eventLog: { kind: 'eventstoredb', connectionString, ...times },
    archiveStore: s3.store('deposits', port),
  };
}
