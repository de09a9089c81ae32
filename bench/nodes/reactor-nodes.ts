import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { depositsDone } from '../against/deposits.ts';
import type { Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { LoadProcess } from '../load/load-process.ts';
import { completeCreate } from '../load/request-kinds.ts';
import { twoNodesAgainstOne } from './http-nodes.ts';
import { NodeGroup } from './node-group.ts';
import { onEachSite } from './node-site.ts';

const [DEPOSITS, CLIENTS] = [60, 8];

/** Sends complete deposits to one node, and waits until one or two others have checked and loaded all. */
export const reactorNodes: Goal = {
  id: 'N2',
  what: 'deposits from request to done, on one and two nodes that check and load',
  measure: (bench) =>
    onEachSite(bench.folder, async (site) => {
      await using group = new NodeGroup(site, path.join(bench.folder, site.name));
      await using load = new LoadProcess();
      const times = { one: [] as number[], two: [] as number[] };
      const measure = (name: keyof typeof times) => async () => {
        const [url = ''] = await group.have({ http: 1, reactors: name === 'one' ? 1 : 2 });
        const { rate, p99 } = await depositsPerSecond(load, url);
        times[name].push(p99);
        return rate;
      };
      const rates = await interleave(bench, `N2, ${site.name}`, { one: measure('one'), two: measure('two') });
      const last = (name: keyof typeof times) => times[name].slice(-bench.pairs);
      return [
        twoNodesAgainstOne(`rate on ${site.name}`, 'deposits/s', rates),
        twoNodesAgainstOne(`99th percentile of the answers on ${site.name}`, 'ms', {
          one: last('one'),
          two: last('two'),
        }),
      ];
    }),
};

async function depositsPerSecond(load: LoadProcess, url: string) {
  const before = await depositsDone(url);
  const started = performance.now();
  const request = completeCreate();
  const { p99 } = await load.run({ url, clients: CLIENTS, request, seconds: 600, requests: DEPOSITS });
  while ((await depositsDone(url)) < before + DEPOSITS) await pause(20);
  return { p99, rate: (DEPOSITS / (performance.now() - started)) * 1000 };
}
