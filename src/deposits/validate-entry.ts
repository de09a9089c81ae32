import type { ClientLogin } from '../../projections/client-logins.ts';
import type { Resolver } from '../contents/resolver.ts';
import type { EntryFacts, MetadataTarget } from '../domain/deposit/events.ts';
import { assertLengths } from '../domain/deposit/limits.ts';
import {
  assertMetadataDeposit,
  assertMetadataUpdate,
  assertNoReference,
} from '../domain/deposit/metadata/decide-metadata.ts';
import {
  assertOriginAllowed,
  isOriginTooLong,
  MAX_ORIGIN_BYTES,
  originAddedTo,
  originBelow,
  unknownOrigin,
} from '../domain/deposit/metadata/origin.ts';
import { badRequest } from '../sword/sword-error.ts';
import { targetOf } from './reference-target.ts';

/** The request that may bring an entry, and the deposits that it may refer to. */
type EntryRequest = {
  /** Deposit that the entry is about, if that is new or done; otherwise, it accompanies software. */
  readonly entryOf: 'new' | 'done' | undefined;
  readonly login: ClientLogin;
  readonly resolver: Resolver;
  readonly body: { readonly kind: string };
  readonly inProgress: boolean | null;
  readonly isFinal: boolean;
  readonly slug: string | null;
  /** Origin of the deposit that is done; `null` if it has no software. */
  readonly ownOrigin: string | null;
};

/**
 * Validates the facts of an entry, or a request without one, before anything is stored; rejects to refuse it. Resolves to
 * what the entry describes, if it refers to an earlier deposit.
 */
export async function validateEntry(
  facts: EntryFacts | null,
  request: EntryRequest,
): Promise<MetadataTarget | undefined> {
  const { entryOf, login, resolver, body, inProgress, slug, ownOrigin } = request;
  if (entryOf === 'new') assertSlugFits(facts, request);
  if (!facts) return undefined;
  if (entryOf === 'done') {
    assertMetadataUpdate(facts, login, ownOrigin);
    return undefined;
  }
  let target: MetadataTarget | undefined;
  if (facts.reference) {
    // Without software, the entry is a deposit of its own, about an earlier deposit of this client.
    if (entryOf !== 'new' || body.kind !== 'entry') assertNoReference(facts);
    if (inProgress === true) {
      throw badRequest('An entry with a reference is a whole deposit: send it with In-Progress: false.');
    }
    if (slug !== null) {
      throw badRequest(
        'A Slug names the origin of software, and an entry with a reference has no software: omit the Slug.',
      );
    }
    assertMetadataDeposit(facts, login);
    target = await targetOf(facts.reference, login, resolver);
  }
  assertLengths(facts);
  assertOriginAllowed(facts, login.providerUrl);
  const addedTo = originAddedTo(facts);
  // A deposit that is done stays so: one look-up is enough.
  if (addedTo !== null && !(await resolver.deposits.hasOrigin(login.client, addedTo)))
    throw unknownOrigin(addedTo);
  return target;
}

/**
 * Refuses a Slug that makes an origin which the client could never name. The origin of an entry takes its place, but an
 * entry of a partial deposit may be replaced.
 */
function assertSlugFits(facts: EntryFacts | null, { slug, isFinal, login }: EntryRequest): void {
  if (slug === null || login.providerUrl === null || (isFinal && facts?.origin)) return;
  if (!isOriginTooLong(originBelow(login.providerUrl, slug))) return;
  throw badRequest(
    `The Slug makes an origin URL of more than ${MAX_ORIGIN_BYTES} bytes, percent-encoded: send a shorter one.`,
  );
}
