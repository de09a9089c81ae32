import type { Logger } from './logger.ts';
import type { Projector } from './read-models/projector.ts';

/** A command has built these generations of views beside the service. */
export async function adoptViews(projector: Projector, generations: unknown, logger: Logger) {
  const pauses: Record<string, number> = {};
  for (const [view, generation] of Object.entries(generations as Record<string, number>)) {
    const ms = await projector.adopt(view, generation);
    logger.info({ view, generation, ms }, 'view switched');
    pauses[view] = ms;
  }
  return pauses;
}
