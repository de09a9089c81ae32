import type { Logger } from '../tools/logger.ts';
import type { Projector } from '../views/projector.ts';

/**
 * Switches to generations that a command built while the service was running: all of them, or none if one is
 * unusable.
 */
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
