import type { Config } from '../../config/config.ts';
import type { AdminCommands } from '../../deposits/admin-commands.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import { confirmations } from '../../service/nodes/confirmations.ts';
import { warn } from './output.ts';
import { serviceOn } from './service-engines.ts';

/**
 * Waits until every running node has applied what the commands appended, five seconds at most. Names on standard error
 * the nodes that have not confirmed that.
 */
export async function untilInEffect(
  config: Config,
  log: EventLog,
  { position }: Pick<AdminCommands, 'position'>,
): Promise<void> {
  if (position === undefined) return;
  try {
    if (config.eventLog.kind !== 'sqlite') {
      for (const [node, isConfirmed] of await confirmations(log))
        if (!isConfirmed)
          warn(
            `${notConfirmed(`Node ${node}`)} If it is gone for good: deposit-service nodes forget '${node}'`,
          );
      return;
    }
    const service = await serviceOn(config);
    if (service && !(await service.hasApplied(position))) warn(notConfirmed('The running service'));
  } catch (error) {
    warn(`The change is recorded. Whether it is in effect could not be asked: ${(error as Error).message}`);
  }
}

function notConfirmed(node: string): string {
  return `The change is recorded. ${node} has not confirmed within 5 s that it is in effect.`;
}
