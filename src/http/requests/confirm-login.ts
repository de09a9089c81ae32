import { clientLogins } from '../../../projections/client-logins.ts';
import { type DepositParts, VIEW_TIMEOUT_MS } from '../../deposits/client-write.ts';
import { clients } from '../../domain/aggregates.ts';
import { EventLogUnavailable } from '../../event-log/event-log.ts';
import { foldStream } from '../../views/fold.ts';
import { unauthorized } from '../middleware/credentials.ts';
import type { ServiceContext } from '../service-context.ts';
import { assertGranted } from './path-names.ts';

/**
 * Evaluates login and grant as the log has them now: both may have been revoked while the body arrived.
 * @throws {SwordError} 401, 404
 * @throws {EventLogUnavailable} the log does not answer, or the views of this node do not contain the new password yet.
 */
export async function confirmLogin(
  { state: { login, verifyAgain } }: ServiceContext,
  collection: string,
  { log, projector }: Pick<DepositParts, 'log' | 'projector'>,
): Promise<void> {
  const events = log.readStream(`${clients.prefix}${login.client}`);
  const current = await foldStream(clientLogins, events);
  if (!current || current.disabled) throw unauthorized();
  if (current.credentialRevision !== login.credentialRevision) {
    // The same password at a higher scrypt cost is valid, another password is not.
    const head = await log.head();
    if (head === undefined || !(await projector.passed(head, VIEW_TIMEOUT_MS)))
      throw new EventLogUnavailable(
        'The views of this node are behind the event log: the login is not confirmed.',
      );
    await verifyAgain();
  }
  assertGranted(current, collection);
}
