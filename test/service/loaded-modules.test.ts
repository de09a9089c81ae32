import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { RetryingDepositor } from '../../testing/http/retrying-depositor.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

const DISTRIBUTED = ['@eventstore/db-client', '@grpc/grpc-js', 'minio'];

test('a service on the embedded engines loads no client of another engine, from start to done deposits', async (t) => {
  const loaded = await loadedFor({});
  t.deepEqual(
    DISTRIBUTED.filter((name) => loaded.packages.has(name)),
    [],
  );
  t.false(loaded.packages.has('yaml'), 'its description was not requested');
  t.false(loaded.packages.has('xmlbuilder2'), 'an error needs no file, which may not be possible to open');
  t.true(loaded.packages.has('koa'));
  t.true(loaded.own.has('src/archives/workers/archive-worker.ts'), 'threads are examined, too');
});

test('a service on EventStoreDB and S3 loads their clients, and no embedded engine', async (t) => {
  await using nodes = await DistributedNodes.start();
  const loaded = await loadedFor(nodes.settings);
  t.deepEqual(
    DISTRIBUTED.filter((name) => !loaded.packages.has(name)),
    [],
  );
  const embedded = [...loaded.own].filter((file) =>
    /\/(event-log\/sqlite|object-store\/filesystem)\//.test(file),
  );
  t.deepEqual(embedded, []);
});

/**
 * Resolves to the modules that a service with these settings has loaded when four deposits, each made in another way,
 * are done, and a request was refused.
 */
async function loadedFor(settings: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-loaded-'));
  try {
    await register({ ...settings, DEPOSIT_DATA_DIR: folder });
    const list = path.join(folder, 'loaded');
    const hooks = pathToFileURL(
      path.join(import.meta.dirname, '../../testing/service/record-loaded-modules.ts'),
    );
    const recording = { NODE_OPTIONS: `--import ${hooks.href}`, LOADED_MODULES: list };
    await using service = await ServiceProcess.start(folder, await freePort(), {
      ...settings,
      ...recording,
    });
    await deposit(service.url);
    await service.end('SIGTERM');
    return packagesAndFiles((await readFile(list, 'utf8')).split('\n'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function register(settings: Record<string, string>): Promise<void> {
  await using log = await openLog(readConfig(settings));
  const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
  await administration.registerClient('alice', 'secret');
  await administration.grant('alice', 'software');
}

async function deposit(url: string): Promise<void> {
  const { authorization } = new TestClient(url, 'alice');
  const depositor = new RetryingDepositor({ nodes: [url, url], authorization, collection: 'software' });
  for (const turn of [0, 2, 4, 6]) {
    const id = await depositor.deposit(turn);
    const status = await depositor.finalStatus(url, id, Infinity);
    if (status !== 'done') throw new Error(`Deposit ${id} is ${status}.`);
  }
  const { status } = await fetch(`${url}/1/servicedocument/`);
  if (status !== 401) throw new Error(`A request without credentials was answered ${status}.`);
}

function packagesAndFiles(urls: readonly string[]) {
  const root = pathToFileURL(path.join(import.meta.dirname, '../..')).href;
  const packages = urls.map((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
  const own = urls.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length + 1));
  return { packages: new Set(packages), own: new Set(own) };
}
