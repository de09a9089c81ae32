import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { RunningService } from './running-service.ts';

/** Resolves to all that the service stores: events, objects, and the bytes of open uploads. */
async function storedThings({ service }: RunningService): Promise<readonly string[]> {
  const events = await Array.fromAsync(service.log.readAll(), ({ stream, type }) => `${stream} ${type}`);
  const objects = await Array.fromAsync(service.store.list(), ({ sha256 }) => sha256);
  const underWay = await service.store.sweepIncoming(new Date(Date.now() + 1000), { dryRun: true });
  return [...events, ...objects.sort(), `${underWay} uploads under way`];
}

/** Asserts that a request has left no event, no object and no temporary file behind. */
export async function leavesNothing(
  t: ExecutionContext,
  service: RunningService,
  work: () => Promise<void>,
): Promise<void> {
  const before = await storedThings(service);
  await work();
  for (let tries = 200; tries > 0; tries -= 1) {
    if ((await storedThings(service)).join() === before.join()) break; // an aborted upload ends a moment later
    await pause(10);
  }
  t.deepEqual(await storedThings(service), before);
}
