import path from 'node:path';
import type { Comparison, Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, zipLike } from '../load/request-kinds.ts';
import { NodeGroup } from './node-group.ts';
import { onEachSite } from './node-site.ts';

const [CLIENTS, SECONDS] = [16, 1];

/** Sends the same creates to one node, or to two that share them. */
export const httpNodes: Goal = {
  id: 'N1',
  what: `creates of 2 KB from ${CLIENTS} clients, on one and two nodes that serve clients`,
  measure: (bench) =>
    onEachSite(bench.folder, async (site) => {
      await using group = new NodeGroup(site, path.join(bench.folder, site.name));
      await using stack = new AsyncDisposableStack();
      const loads = [stack.use(new LoadProcess()), stack.use(new LoadProcess())];
      const p99 = { one: [] as number[], two: [] as number[] };
      const measure = (name: keyof typeof p99) => async () => {
        const urls = await group.have({ http: name === 'one' ? 1 : 2, reactors: 0 });
        const job = {
          clients: CLIENTS / loads.length,
          request: archiveCreate(zipLike(2048)),
          seconds: SECONDS,
        };
        const reports = await Promise.all(
          loads.map((load, index) => load.run({ ...job, url: urls[index % urls.length] as string })),
        );
        p99[name].push(Math.max(...reports.map((report) => report.p99)));
        return reports.reduce((sum, { requests, seconds }) => sum + requests / seconds, 0);
      };
      const rates = await interleave(bench, `N1, ${site.name}`, { one: measure('one'), two: measure('two') });
      const last = (name: keyof typeof p99) => p99[name].slice(-bench.pairs);
      return [
        twoNodesAgainstOne(`rate on ${site.name}`, 'creates/s', rates),
        twoNodesAgainstOne(`99th percentile on ${site.name}`, 'ms', { one: last('one'), two: last('two') }),
      ];
    }),
};

/** Returns the values of two nodes next to those of one. */
export function twoNodesAgainstOne(
  what: string,
  unit: string,
  { one, two }: Readonly<Record<'one' | 'two', readonly number[]>>,
): Comparison {
  const [ours, reference] = [
    { name: 'two nodes', values: two },
    { name: 'one node', values: one },
  ];
  return { what, unit, ours, reference, wanted: undefined };
}
