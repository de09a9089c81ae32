import type { ClientLogin } from '../../../projections/client-logins.ts';
import { assertNoReference } from '../../domain/deposit/decide-metadata.ts';
import type { EntryFacts } from '../../domain/deposit/events.ts';
import { assertOriginAllowed, originAddedTo, unknownOrigin } from '../../domain/deposit/origin.ts';
import type { BodyKind, DepositRequest } from './deposit-request.ts';
import { judgeReference, type LoadedThings } from './metadata-target.ts';

/** Sees the facts of an entry before anything is kept, and may refuse it. */
export type EntryJudge = (facts: EntryFacts) => Promise<void>;

/** Of an entry that goes with software. */
export function softwareJudge(login: ClientLogin, things: LoadedThings): EntryJudge {
  return async (facts) => {
    assertNoReference(facts);
    await judgeOrigin(facts, login, things);
  };
}

/** Of an entry that comes to a collection, with software or about what was deposited before. */
export function collectionJudge(
  body: BodyKind,
  request: DepositRequest,
  login: ClientLogin,
  things: LoadedThings,
): EntryJudge {
  return async (facts) => {
    await judgeReference(facts, body, request, login, things);
    await judgeOrigin(facts, login, things);
  };
}

async function judgeOrigin(facts: EntryFacts, login: ClientLogin, things: LoadedThings): Promise<void> {
  assertOriginAllowed(facts, login.providerUrl);
  const addedTo = originAddedTo(facts);
  // What is done stays done: asked once is enough.
  if (addedTo !== null && !(await things.hasLoaded(login.client, addedTo))) throw unknownOrigin(addedTo);
}
