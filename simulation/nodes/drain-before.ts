import type { ObjectStore } from '../../src/object-store/object-store.ts';

/**
 * Has a stop wait for open requests and for the reactors before anything closes that they use, as `src/service/service.ts`
 * does. Returns where the open requests are kept.
 */
export function drainBefore(
  resources: AsyncDisposableStack,
  store: ObjectStore,
  reactors?: { stop(): Promise<void> },
): Set<Promise<unknown>> {
  const openRequests = new Set<Promise<unknown>>();
  resources.defer(async () => {
    await Promise.all([...openRequests, reactors?.stop()]);
    await store[Symbol.asyncDispose]();
  });
  return openRequests;
}
