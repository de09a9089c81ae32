import { cp } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { Assets } from '../../../src/modules/console/server/assets.ts';
import { FILES_OF_NODE } from '../../../src/tools/files.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';

const root = path.join(import.meta.dirname, '../../..');

/** Sources of the console, and of what serves them. */
const SOURCES = ['src', 'projections', 'package.json', 'node_modules/preact', 'node_modules/htm'];

test('the console is served from a folder whose name has spaces and letters beyond ASCII', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'dépôt 100%20 #1');
  for (const name of SOURCES) await cp(path.join(root, name), path.join(folder, name), { recursive: true });
  const copy = pathToFileURL(path.join(folder, 'src/modules/console/server/assets.ts')).href;
  const assets = await ((await import(copy)) as { Assets: typeof Assets }).Assets.open();
  const preact = await assets.at(assets.urlOf('preact.mjs'));
  const own = await Assets.open();
  t.deepEqual(preact?.body, (await own.at(own.urlOf('preact.mjs')))?.body);
  t.is(assets.release, own.release);
});

test('an asset that could not be read is read by the next request', async (t) => {
  const assets = await Assets.open();
  const url = assets.urlOf('src/modules/console/browser/style.css');
  const readFile = () => Promise.reject(new Error('EMFILE'));
  const files = { ...FILES_OF_NODE, readFile } as typeof FILES_OF_NODE;
  await t.throwsAsync(
    runInWorld({ files }, () => assets.at(url)),
    { message: 'EMFILE' },
  );
  t.is((await assets.at(url))?.type, 'text/css; charset=utf-8');
});
