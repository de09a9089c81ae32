import { SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** For writes: whoever wants to deposit for somebody else is told that it is not possible. */
export function refuseMediation(raw: RawHeader): void {
  if (!headerText(raw)) return;
  throw new SwordError(
    'MediationNotAllowed',
    'Deposits on behalf of others are not possible: leave On-Behalf-Of out.',
  );
}
