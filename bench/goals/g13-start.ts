import { setTimeout as pause } from 'node:timers/promises';
import { ControlClient } from '../../src/service/operator-port/control-client.ts';
import { atMost, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { startBenched } from '../servers/benched-service.ts';

/** Deposits of seven events each. */
const DEPOSITS = 143_000;

/** Measures from the start of the process until it is ready; views and checkpoints are those of the last run. */
export const start: Goal = {
  id: 'G13',
  what: 'start with 1 M events and current views',
  async measure(bench) {
    const dataDir = await bench.inputs.manyDeposits(DEPOSITS);
    bench.tell('G13: views of 1 M events, unless they are there');
    await catchUp(dataDir);
    const found = await interleave(bench, 'G13', { start: () => secondsToReady(dataDir) });
    return [
      {
        what: 'to ready',
        unit: 's',
        ours: { name: 'service', values: found.start },
        wanted: atMost(1),
      },
    ];
  },
};

/** Resolves when views and reactors have processed the whole log. */
export async function catchUp(dataDir: string): Promise<void> {
  await using _service = await startBenched(dataDir);
  for (;;) {
    const state = await (await ControlClient.find(dataDir))?.state();
    if (state?.reactors.every(({ delivery }) => delivery?.waiting === 0)) return;
    await pause(200);
  }
}

async function secondsToReady(dataDir: string): Promise<number> {
  const started = performance.now();
  await using _service = await startBenched(dataDir);
  return (performance.now() - started) / 1000;
}
