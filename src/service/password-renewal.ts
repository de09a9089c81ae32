import { Administration } from '../administration.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { RenewPassword } from '../http/credentials.ts';
import type { Logger } from '../logger.ts';

/** Renews passwords in the log. A login goes on without: the next one tries again. */
export function passwordRenewal(log: EventLog, logger: Logger): RenewPassword {
  const administration = new Administration(log, { kind: 'service', name: 'login' });
  return async ({ client, credentialRevision }, password) => {
    await administration.renewPassword(client, password, credentialRevision).catch((error: unknown) => {
      logger.warn({ err: error, client }, 'the password could not be kept at higher costs');
    });
  };
}
