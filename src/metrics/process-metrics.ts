import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** Under their usual names: memory, CPU, event loop, garbage and handles: of the process, so all services in it share them. */
export function processMetrics(): Registry {
  if (registry) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
