import type { ClientLogin } from '../../../projections/client-logins.ts';
import type { EntryFacts } from '../../domain/deposit/events.ts';
import { assertNoReference } from '../../domain/deposit/metadata/decide-metadata.ts';
import { assertOriginAllowed, originAddedTo, unknownOrigin } from '../../domain/deposit/metadata/origin.ts';
import type { BodyKind, DepositRequest } from '../requests/deposit-request.ts';
import { type LoadedDepositsLookup, validateReference } from './reference-target.ts';

/** Validates the facts of an entry before anything is stored; rejects to refuse it. */
export type EntryValidator = (facts: EntryFacts) => Promise<void>;

/** Returns the validator of an entry that accompanies software. */
export function softwareEntryValidator(login: ClientLogin, loaded: LoadedDepositsLookup): EntryValidator {
  return async (facts) => {
    assertNoReference(facts);
    await validateOrigin(facts, login, loaded);
  };
}

/** Returns the validator of an entry sent to a collection, with software or about an earlier deposit. */
export function collectionEntryValidator(
  body: BodyKind,
  request: DepositRequest,
  login: ClientLogin,
  loaded: LoadedDepositsLookup,
): EntryValidator {
  return async (facts) => {
    await validateReference(facts, body, request, login, loaded);
    await validateOrigin(facts, login, loaded);
  };
}

async function validateOrigin(
  facts: EntryFacts,
  login: ClientLogin,
  loaded: LoadedDepositsLookup,
): Promise<void> {
  assertOriginAllowed(facts, login.providerUrl);
  const addedTo = originAddedTo(facts);
  // A deposit that is done stays so: one look-up is enough.
  if (addedTo !== null && !(await loaded.hasLoaded(login.client, addedTo))) throw unknownOrigin(addedTo);
}
