import fs from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../src/config.ts';
import { makeDataFolder } from '../src/process/start-faults.ts';
import { FILES_OF_NODE } from '../src/tools/files.ts';
import { runInWorld } from '../src/tools/outside-world.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

test('the names of the data folder and of its parents are synced when they are made, and at each later start', async (t) => {
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
