import { SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Refuses writes on behalf of another user. */
export function refuseMediation(raw: RawHeader): void {
  if (!headerText(raw)) return;
  throw new SwordError(
    'MediationNotAllowed',
    'Deposits on behalf of others are not possible: leave On-Behalf-Of out.',
  );
}
