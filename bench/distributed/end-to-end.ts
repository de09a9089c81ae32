import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EngineProcesses } from '../../drills/engine-processes.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-backends.ts';
import { helloEntry, helloZip } from '../../testing/http/deposit-bodies.ts';
import { depositsDone } from '../against/deposits.ts';
import type { Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { LoadProcess } from '../load/load-process.ts';
import { completeCreate } from '../load/request-kinds.ts';
import { registerIn, startBenched } from '../servers/benched-service.ts';
import type { ServerProcess } from '../servers/server-process.ts';

const [DEPOSITS, CLIENTS] = [100, 8];

/** One process that serves clients, and 1, 2 or 4 that check and load. Each group has engines of its own. */
export const endToEnd: Goal = {
  id: 'D3',
  what: 'deposits from request to done, by the processes that check and load',
  async measure(bench) {
    await using running = new AsyncDisposableStack();
    const groups = { one: 1, two: 2, four: 4 };
    const urls: Record<string, string> = {};
    for (const [name, reactors] of Object.entries(groups)) {
      const { url } = await startGroup(running, path.join(bench.folder, name), reactors);
      urls[name] = url;
    }
    const load = running.use(new LoadProcess());
    const rateOf = (name: keyof typeof groups) => () => depositsPerSecond(load, urls[name] as string);
    const found = await interleave(bench, 'D3', {
      one: rateOf('one'),
      two: rateOf('two'),
      four: rateOf('four'),
    });
    const reference = { name: '1 process', values: found.one };
    return (['two', 'four'] as const).map((name) => ({
      what: `${groups[name]} processes`,
      unit: 'deposits/s',
      ours: { name: `${groups[name]} processes`, values: found[name] },
      reference,
      wanted: undefined,
    }));
  },
};

async function startGroup(
  running: AsyncDisposableStack,
  folder: string,
  reactors: number,
): Promise<ServerProcess> {
  const engines = running.use(await EngineProcesses.start());
  {
    await using log = await openLog(readConfig({ ...engines.settings, DEPOSIT_DATA_DIR: folder }));
    await registerIn(log);
  }
  const start = async (name: string, role: string): Promise<ServerProcess> => {
    const env = { ...engines.settings, DEPOSIT_ROLES: role };
    return running.use(await startBenched(path.join(folder, name), { env }));
  };
  for (let number = 1; number <= reactors; number += 1) await start(`reactors-${number}`, 'reactors');
  return start('http', 'http');
}

async function depositsPerSecond(load: LoadProcess, url: string): Promise<number> {
  const before = await depositsDone(url);
  const started = performance.now();
  const request = completeCreate(helloZip, helloEntry);
  await load.run({ url, clients: CLIENTS, request, seconds: 600, requests: DEPOSITS });
  while ((await depositsDone(url)) < before + DEPOSITS) await pause(20);
  return (DEPOSITS / (performance.now() - started)) * 1000;
}
