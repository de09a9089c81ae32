import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { snapshotObjects } from '../../src/views/snapshots/snapshot-records.ts';
import { keyOf } from '../clients/storing-client.ts';
import { scratchFolder } from './drilled-service.ts';
import { ServiceProcess } from './service-process.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILLED = 'no snapshot of the views can be used: they are filled from the event log';
/** A projection, and where its version is. */
const [PROJECTION, VERSION] = ['projections/deposit-search.ts', /\bversion: (\d+)/];

export type NewNode = {
  readonly dataDir: string;
  readonly port: number;
  readonly env: Record<string, string>;
  /** Makes the next node a new one. */
  readonly removeViews: () => void;
};

/**
 * Starts new nodes that have no use for the stored snapshots: one of a release with a newer version of a projection, then
 * one whose store has lost the objects. Resolves to what is wrong: each has to say why, and to fill its views from the log.
 */
export async function startWithoutSnapshots(site: NewNode): Promise<readonly string[]> {
  await using folder = await scratchFolder('next-release');
  const release = nextReleaseIn(folder.path);
  const newer = await started(site, `has version ${release.version - 1}`, release.main);
  await removeSnapshots(site.dataDir);
  return [...newer, ...(await started(site, 'object'))];
}

/** Copies the sources, with the next version of a projection. */
function nextReleaseIn(folder: string): { readonly main: string; readonly version: number } {
  for (const name of ['client', 'projections', 'src', 'package.json'])
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const file = path.join(folder, PROJECTION);
  const source = readFileSync(file, 'utf8');
  const version = Number(VERSION.exec(source)?.[1]) + 1;
  writeFileSync(file, source.replace(VERSION, `version: ${version}`));
  return { main: path.join(folder, 'src', 'main.ts'), version };
}

async function started(
  { dataDir, port, env, removeViews }: NewNode,
  reason: string,
  main?: string,
): Promise<readonly string[]> {
  removeViews();
  await using node = await ServiceProcess.start(dataDir, port, env, main);
  const { said } = node;
  const line = said.split('\n').find((text) => text.includes(FILLED));
  await node.end('SIGTERM');
  return line?.includes(reason)
    ? []
    : [`A new node does not say “${FILLED}” because of “${reason}”: ${said}`];
}

/** Removes the objects of all snapshots from the store of a service that is not running. */
async function removeSnapshots(dataDir: string): Promise<void> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }), { readOnly: true });
  const archives = path.join(dataDir, 'archives');
  using rows = new DatabaseSync(path.join(archives, 'small.sqlite'));
  for (const sha256 of await snapshotObjects(log)) {
    rmSync(path.join(archives, keyOf(sha256)), { force: true });
    rows.prepare('DELETE FROM small_object WHERE sha256 = ?').run(sha256);
  }
}
