import { setTimeout as pause } from 'node:timers/promises';
import type { Loads } from '../clients/loads.ts';
import type { RunOf } from '../frame/run-of.ts';
import type { ServiceCluster } from '../service/service-cluster.ts';
import type { EngineProcesses } from './engine-processes.ts';

/**
 * Kills both reactor nodes in turn, at moments spread over the run, during loads if there are any. Prints a line before
 * each kill.
 */
export async function killReactors(
  cluster: ServiceCluster,
  kills: number,
  run: RunOf,
  loads: Loads,
  report: (kill: number) => void,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await run.reached(kill / (kills + 1));
    for (let tries = 0; loads.loading === 0 && tries < 200; tries += 1) await pause(5);
    await pause(Math.random() * 20);
    report(kill);
    await cluster.kill('reactors', kill % 2);
  }
}

/** Stops the log after a third of the run; resolves to what was wrong with how the nodes handled it. */
export async function interruptLog(
  seconds: number,
  engines: EngineProcesses,
  cluster: ServiceCluster,
  run: RunOf,
  report: (what: string) => void,
): Promise<string[]> {
  if (seconds === 0) return [];
  await run.reached(1 / 3);
  report('the log is down');
  engines.stopLog();
  await pause(seconds * 1000);
  const ready = await cluster.ready();
  engines.startLog();
  const since = performance.now();
  report(`the log is back; until then ${ready} of 4 nodes reported that they were ready`);
  while ((await cluster.ready()) < 4) await pause(50);
  report(`all nodes are ready again after ${((performance.now() - since) / 1000).toFixed(1)} s`);
  return ready === 0 ? [] : [`${ready} nodes reported that they were ready while the log was down.`];
}
