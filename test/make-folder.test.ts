import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../src/config.ts';
import { makeDataFolder } from '../src/process/start-faults.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

test('the names of the data folder and of its parents are synced when they are made, and at each later start', async (t) => {
  const top = fs.realpathSync(await temporaryFolder(t));
  const synced: string[] = [];
  const fsync = fs.fsyncSync;
  fs.fsyncSync = (descriptor) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fsync(descriptor);
  };
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.fsyncSync = fsync;
    syncBuiltinESMExports();
  });
  const config = readConfig({ DEPOSIT_DATA_DIR: path.join(top, 'srv/deposit/data') });
  makeDataFolder(config);
  const parents = ['', 'srv', 'srv/deposit'].map((folder) => path.join(top, folder));
  t.deepEqual(synced.slice(0, 3), parents);
  synced.length = 0;
  makeDataFolder(config);
  t.deepEqual(synced, [path.join(top, 'srv/deposit')]);
});
