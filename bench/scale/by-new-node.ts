import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { viewDirectory } from '../../src/service/backends/view-directory.ts';
import { retainedSnapshots } from '../../src/views/snapshots/snapshot-records.ts';
import { writeDoubleFile } from '../inputs/double-file.ts';
import { openSite } from '../nodes/node-site.ts';
import { startBenched } from '../servers/benched-service.ts';
import { Curves, type Dimension } from './dimension.ts';

const X = 'deposits in the log';

/** Starts a node without views from the log, lets it store a snapshot, and starts it without views again. */
export const byNewNode: Dimension = {
  name: 'new-node',
  what: 'deposits in the log, of seven events each, when a node without views starts',
  sizes: [10_000, 100_000, 1_000_000],
  async measure(bench, sizes) {
    const [starts, snapshots] = [new Curves(), new Curves()];
    const measure = async (engine: string, size: number, node: Node): Promise<void> => {
      bench.tell(`${size} deposits, ${engine}: start from the log`);
      starts.add(`${engine}: from the log`, size, await secondsWithoutViews(node, '0'));
      bench.tell(`${size} deposits, ${engine}: snapshot`);
      const { seconds, length, memory } = await storedSnapshot(node);
      // An earlier run on the same log may have stored the snapshot.
      if (seconds !== undefined) snapshots.add(`${engine}: from ready to stored, s`, size, seconds);
      snapshots.add(`${engine}: memory of the node, peak, MiB`, size, memory);
      snapshots.add(`${engine}: snapshot, MiB`, size, length / MIB);
      snapshots.add(
        `${engine}: views, MiB`,
        size,
        statSync(path.join(node.dataDir, VIEWS, 'views.1.sqlite')).size / MIB,
      );
      bench.tell(`${size} deposits, ${engine}: start from the snapshot`);
      starts.add(`${engine}: from a snapshot`, size, await secondsWithoutViews(node, '1'));
    };
    for (const size of sizes) {
      const dataDir = await bench.inputs.manyDeposits(size);
      await measure('embedded', size, { dataDir, env: {} });
      bench.tell(`${size} deposits: the log of the double`);
      const file = path.join(bench.folder, `double-${size}.sqlite`);
      writeDoubleFile(path.join(dataDir, 'event-log.sqlite'), file);
      const folder = path.join(bench.folder, `double-${size}`);
      await using site = await openSite({ name: 'the double', folder, file });
      await measure('EventStoreDB (double)', size, {
        dataDir: folder,
        env: { ...site.settings, DEPOSIT_ROLES: 'http' },
      });
      rmSync(file);
    }
    return {
      'new-node-by-deposits': starts.plot(
        'Start of a node without views, by the deposits there are',
        X,
        's to ready',
      ),
      'snapshot-by-deposits': snapshots.plot(
        'A snapshot of the views, by the deposits there are',
        X,
        's or MiB',
      ),
    };
  },
};

type Node = { readonly dataDir: string; readonly env: Readonly<Record<string, string>> };

const [MIB, VIEWS] = [1024 ** 2, 'views'];

/** Resolves to the seconds until a node is ready whose views were removed. */
async function secondsWithoutViews({ dataDir, env }: Node, snapshotSize: string): Promise<number> {
  rmSync(path.join(dataDir, VIEWS), { recursive: true, force: true });
  const started = performance.now();
  await using _node = await startBenched(dataDir, {
    env: { ...env, DEPOSIT_VIEW_SNAPSHOT_SIZE: snapshotSize },
  });
  return (performance.now() - started) / 1000;
}

/** Starts a node on views that are current, and resolves when the log names a snapshot. */
async function storedSnapshot({ dataDir, env }: Node) {
  const config = readConfig({ ...env, DEPOSIT_DATA_DIR: dataDir });
  await using log = await openLog(config, { readOnly: true });
  const [, origin] = viewDirectory(config);
  // The log of the double has those of the embedded log as well.
  const stored = async () => (await retainedSnapshots(log)).filter((each) => each.origin === origin);
  const before = await stored();
  await using node = await startBenched(dataDir, { env: { ...env, DEPOSIT_VIEW_SNAPSHOT_SIZE: '1' } });
  const ready = performance.now();
  for (;;) {
    const [newest] = await stored();
    if (newest !== undefined) {
      const seconds = before.length > 0 ? undefined : (performance.now() - ready) / 1000;
      const length = newest.parts.reduce((sum, part) => sum + part.length, 0);
      return { seconds, length, memory: node.facts.peakMemory };
    }
    await pause(100);
  }
}
