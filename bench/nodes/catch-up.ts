import { rmSync } from 'node:fs';
import path from 'node:path';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import type { Comparison, Goal } from '../frame/goal.ts';
import { interleave, secondsOf } from '../frame/interleave.ts';
import { writeDoubleFile } from '../inputs/double-file.ts';
import { NodeGroup } from './node-group.ts';
import { type NodeSite, openSite } from './node-site.ts';

const DEPOSITS = 3000;

/** Starts a node that has to apply all events of the log, as one that was away for them, and one that has applied all. */
export const catchUpRate: Goal = {
  id: 'N3',
  what: 'catch-up of a node that was away',
  async measure(bench) {
    const dataDir = await bench.inputs.manyDeposits(DEPOSITS);
    const file = path.join(bench.folder, 'double.sqlite');
    writeDoubleFile(path.join(dataDir, 'event-log.sqlite'), file);
    await using doubles = await openSite({
      name: 'the double',
      folder: path.join(bench.folder, 'site'),
      file,
    });
    const found = await rateOn(doubles);
    const server = process.env['EVENTSTORE_URL'];
    if (server === undefined) return found;
    await using site = await openSite({
      name: 'the server',
      folder: path.join(bench.folder, 'server'),
      server,
    });
    return [...found, ...(await rateOn(site))];

    async function rateOn(site: NodeSite): Promise<Comparison[]> {
      const events = await eventsOf(site, bench.folder);
      await using group = new NodeGroup(site, path.join(bench.folder, site.name));
      const cpu = { away: [] as number[], current: [] as number[] };
      const start = (name: keyof typeof cpu) => () =>
        secondsOf(async () => {
          await using node = await group.start('http', 1);
          cpu[name].push(node.facts.cpuSeconds);
        });
      await start('current')();
      const seconds = await interleave(bench, `N3, ${site.name}`, {
        away: () => {
          rmSync(path.join(group.folderOf('http', 1), 'views'), { recursive: true, force: true });
          return start('away')();
        },
        current: start('current'),
      });
      const rates = (away: readonly number[], current: readonly number[]) =>
        away.map((taken, pair) => events / (taken - (current[pair] as number)));
      const last = (name: keyof typeof cpu) => cpu[name].slice(-bench.pairs);
      const what = `from ${site.name}, ${events.toLocaleString('en')} events`;
      return [
        alone(what, 'events/s', rates(seconds.away, seconds.current)),
        alone(
          `${what}, by CPU time`,
          'events for a second of the node',
          rates(last('away'), last('current')),
        ),
      ];
    }
  },
};

function alone(what: string, unit: string, values: readonly number[]): Comparison {
  return { what, unit, ours: { name: 'node', values }, wanted: undefined };
}

async function eventsOf({ settings }: NodeSite, folder: string): Promise<number> {
  await using log = await openLog(readConfig({ ...settings, DEPOSIT_DATA_DIR: folder }));
  let events = 0;
  for await (const _event of log.readAll()) events += 1;
  return events;
}
