import { AdminCommands } from '../deposits/admin-commands.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { RenewPassword } from '../http/middleware/credentials.ts';
import type { Logger } from '../tools/logger.ts';

/**
 * Whether the control file or its process does not exist. The file exists from the end of the start until the
 * stop, and remains after a crash.
 */
export function passwordRenewal(log: EventLog, logger: Logger): RenewPassword {
  const administration = new AdminCommands(log, { kind: 'service', name: 'login' });
  return async ({ client, credentialRevision }, password) => {
    await administration.renewPassword(client, password, credentialRevision).catch((error: unknown) => {
      logger.warn({ err: error, client }, 'the password could not be kept at higher costs');
    });
  };
}
