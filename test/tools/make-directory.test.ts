import fs from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { makeDataFolder } from '../../src/service/process/start-errors.ts';
import { DurableFolders } from '../../src/tools/files/durable-directory.ts';
import { makeKeyFile } from '../../src/tools/files/key-file.ts';
import { lockFile } from '../../src/tools/files/lock-file.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { ViewFolder } from '../../src/views/store/view-folder.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

/** Resolves to the folders that `work` synced, synchronously or not, in order. */
async function syncedBy(work: () => unknown): Promise<readonly string[]> {
  const synced: string[] = [];
  const note = (descriptor: number): void => {
    const place = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
    if (fs.statSync(place, { throwIfNoEntry: false })?.isDirectory()) synced.push(place);
  };
  const fsyncSync = (descriptor: number): void => {
    note(descriptor);
    fs.fsyncSync(descriptor);
  };
  const open = async (...args: Parameters<typeof fs.promises.open>): Promise<fs.promises.FileHandle> => {
    const handle = await fs.promises.open(...args);
    const sync = handle.sync.bind(handle);
    handle.sync = () => {
      note(handle.fd);
      return sync();
    };
    return handle;
  };
  await runInWorld({ files: { ...FILES_OF_NODE, fsyncSync, open } }, async () => await work());
  return synced;
}

test('the entries of the data folder and its parents are synced when created, and at each later start', async (t) => {
  const top = fs.realpathSync(await temporaryFolder(t));
  const synced: string[] = [];
  const fsyncSync = (descriptor: number): void => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fs.fsyncSync(descriptor);
  };
  const config = readConfig({ DEPOSIT_DATA_DIR: path.join(top, 'srv/deposit/data') });
  const start = () => runInWorld({ files: { ...FILES_OF_NODE, fsyncSync } }, () => makeDataFolder(config));
  start();
  const parents = ['', 'srv', 'srv/deposit'].map((folder) => path.join(top, folder));
  t.deepEqual(synced.slice(0, 3), parents);
  synced.length = 0;
  start();
  t.deepEqual(synced, [path.join(top, 'srv/deposit')]);
});

test('the entry of each folder that the service creates is synced, also if an earlier process created it', async (t) => {
  const top = fs.realpathSync(await temporaryFolder(t));
  const folder = path.join(top, 'data/inner');
  const file = path.join(folder, 'file');
  await using log = new MemoryEventLog();
  const shape = { name: 'shown', version: 1 };
  const makers: Readonly<Record<string, () => unknown>> = {
    lock: () => lockFile(file, 'in use')[Symbol.dispose](),
    key: () => makeKeyFile(file, 'secret'),
    views: () => {
      using store = new SqliteViewStore(folder, 'sqlite');
      store.add(shape);
    },
    checkpoints: async () => {
      for await (const _ of new CatchUpDeliveries(log, folder).receive('group', '', AbortSignal.abort()));
    },
    store: () => new DurableFolders(folder).make(folder),
  };
  for (const [name, make] of Object.entries(makers)) {
    for (const parents of [['data', ''], ['data']]) {
      const synced = await syncedBy(make);
      for (const parent of parents) t.true(synced.includes(path.resolve(top, parent)), `${name}: ${parent}`);
    }
    fs.rmSync(path.join(top, 'data'), { recursive: true });
  }
});

test('the entry of the file that names the views in use is synced', async (t) => {
  const folder = fs.realpathSync(await temporaryFolder(t));
  t.deepEqual(await syncedBy(() => new ViewFolder(folder).use(2)), [folder]);
});
