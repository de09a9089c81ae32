import { badRequest, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Returns `true` for an incomplete deposit, `false` for the final request; `null`: the IRI decides. */
export function parseInProgress(raw: RawHeader): boolean | null {
  const value = headerText(raw)?.toLowerCase();
  if (value === undefined) return null;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw badRequest(`In-Progress must be true or false, not ${quoted(value)}.`);
}
