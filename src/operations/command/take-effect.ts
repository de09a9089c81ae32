import type { Config } from '../../config/config.ts';
import type { AdminCommands } from '../../deposits/admin-commands.ts';
import { warn } from './command.ts';
import { serviceOn } from './service-engines.ts';

/**
 * Waits until the service on the data folder has applied what the commands appended, five seconds at most. Says on
 * standard error if it has not confirmed that. Nodes with other data folders are not asked.
 */
export async function untilInEffect(
  config: Config,
  { position }: Pick<AdminCommands, 'position'>,
): Promise<void> {
  if (position === undefined) return;
  try {
    const service = await serviceOn(config);
    if (service && !(await service.hasApplied(position)))
      warn('The change is recorded. The running service has not confirmed within 5 s that it is in effect.');
  } catch (error) {
    warn(`The change is recorded. Whether it is in effect could not be asked: ${(error as Error).message}`);
  }
}
