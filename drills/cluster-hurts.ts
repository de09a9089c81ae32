import { setTimeout as pause } from 'node:timers/promises';
import type { EngineProcesses } from './engine-processes.ts';
import type { Loads } from './loads.ts';
import type { RunOf } from './run-of.ts';
import type { ServiceCluster } from './service-cluster.ts';

/** Kills reactor nodes all over the run, in the middle of loads where there are any; tells before each kill. */
export async function killReactors(
  cluster: ServiceCluster,
  kills: number,
  run: RunOf,
  loads: Loads,
  tell: (kill: number) => void,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await run.reached(kill / (kills + 1));
    for (let tries = 0; loads.loading === 0 && tries < 200; tries += 1) await pause(5);
    await pause(Math.random() * 20);
    tell(kill);
    await cluster.killReactors();
  }
}

/** Takes the log away when a third of the run is through; resolves to what was wrong with how the nodes bore it. */
export async function takeLogAway(
  seconds: number,
  engines: EngineProcesses,
  cluster: ServiceCluster,
  run: RunOf,
  tell: (what: string) => void,
): Promise<string[]> {
  if (seconds === 0) return [];
  await run.reached(1 / 3);
  tell('the log is down');
  engines.stopLog();
  await pause(seconds * 1000);
  const ready = await cluster.ready();
  engines.startLog();
  const since = performance.now();
  tell(`the log is back, until when ${ready} of 4 nodes said that they were ready`);
  while ((await cluster.ready()) < 4) await pause(50);
  tell(`all nodes are ready again after ${((performance.now() - since) / 1000).toFixed(1)} s`);
  return ready === 0 ? [] : [`${ready} nodes said that they were ready while the log was down.`];
}
