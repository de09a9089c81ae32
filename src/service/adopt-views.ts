import type { Logger } from '../logger.ts';
import type { Projector } from '../read-models/projector.ts';

/** A command has built these generations of views beside the service: it takes all of them or none. */
export async function adoptViews(projector: Projector, generations: unknown, logger: Logger) {
  const pauses: Record<string, number> = {};
  const built = Object.entries(generations as Record<string, number>);
  for (const [view, generation] of built) projector.assertBuilt(view, generation);
  for (const [view, generation] of built) {
    const ms = await projector.adopt(view, generation);
    logger.info({ view, generation, ms }, 'view switched');
    pauses[view] = ms;
  }
  return pauses;
}
