import type { HttpModule } from '../../http/http-module.ts';
import type { Module } from '../module.ts';
import { DryRuns } from './dry-run.ts';
import { openDryRuns } from './open-dry-runs.ts';

/** Checks of a new deposit that do not make it. */
export const dryRun: Module = {
  name: 'dry-run',
  async serve({ config, logger, resources, observedReader }): Promise<HttpModule> {
    const places = resources.use(
      await openDryRuns(config, observedReader, (err, archives) =>
        logger.warn({ archives, err }, 'check of a dry run aborted'),
      ),
    );
    return { name: 'dry-run', dryRun: ({ lookup, receive }) => new DryRuns(places, lookup, receive) };
  },
};
