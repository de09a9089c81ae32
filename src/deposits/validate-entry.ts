import type { ClientLogin } from '../../projections/client-logins.ts';
import { allOf, isAnchored } from '../contents/deposit-filter.ts';
import type { Requester } from '../contents/loaded-deposits.ts';
import type { Resolver } from '../contents/resolver.ts';
import { DepositRefusal } from '../domain/deposit/errors.ts';
import type { EntryFacts, MetadataTarget, Reference } from '../domain/deposit/events.ts';
import {
  assertMetadataDeposit,
  assertMetadataUpdate,
  assertNoReference,
} from '../domain/deposit/metadata/decide-metadata.ts';
import { assertOriginAllowed, originAddedTo, unknownOrigin } from '../domain/deposit/metadata/origin.ts';
import {
  type CoreSwhid,
  formatQualifiedSwhid,
  formatSwhid,
  InvalidSwhid,
  parseReference,
  type Swhid,
} from '../swhid/swhid.ts';
import { badRequest } from '../sword/sword-error.ts';

/** The request that brings an entry, and the deposits that it may refer to. */
type EntryRequest = {
  /** Deposit that the entry is about, if that is new or done; otherwise, it accompanies software. */
  readonly entryOf: 'new' | 'done' | undefined;
  readonly login: ClientLogin;
  readonly resolver: Resolver;
  readonly body: { readonly kind: string };
  readonly inProgress: boolean | null;
  readonly slug: string | null;
};

/** Validates the facts of an entry before anything is stored; rejects to refuse it. */
export async function validateEntry(facts: EntryFacts, request: EntryRequest): Promise<void> {
  const { entryOf, login, resolver, body, inProgress, slug } = request;
  if (entryOf === 'done') return assertMetadataUpdate(facts, login.providerUrl);
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
    assertMetadataDeposit(facts, login.providerUrl);
    await targetOf(facts.reference, login, resolver);
  }
  assertOriginAllowed(facts, login.providerUrl);
  const addedTo = originAddedTo(facts);
  // A deposit that is done stays so: one look-up is enough.
  if (addedTo !== null && !(await resolver.deposits.hasOrigin(login.client, addedTo)))
    throw unknownOrigin(addedTo);
}

/** Resolves to the target of a reference. @throws {SwordError} 400: this client has not deposited it. */
export async function targetOf(
  reference: Reference,
  requester: Requester,
  resolver: Resolver,
): Promise<MetadataTarget> {
  if (reference.kind === 'origin') {
    const url = reference.value;
    if (await resolver.deposits.hasOrigin(requester.client, url)) return { kind: 'origin', url };
    throw unknownReference(`the origin ${url}: this client has no deposit from there that is done`);
  }
  const swhid = swhidIn(reference.value);
  const core = formatSwhid(swhid);
  if (await isKnown(swhid, requester, resolver)) {
    return { kind: 'object', swhid: core, context: formatQualifiedSwhid(swhid) };
  }
  const bare = { type: swhid.type, id: swhid.id, qualifiers: {} };
  throw (await isKnown(bare, requester, resolver))
    ? unknownReference(
        `${formatQualifiedSwhid(swhid)}: ${core} has been deposited by this client, but not in that context`,
      )
    : unknownReference(`${core}: ${unknownObjectReason(swhid)}`);
}

function swhidIn(text: string): Swhid {
  try {
    return parseReference(text);
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`The reference of the entry: ${error.message}`);
    throw error;
  }
}

async function isKnown(swhid: Swhid, requester: Requester, resolver: Resolver): Promise<boolean> {
  const { visit, anchor, path } = swhid.qualifiers;
  // The directory of a deposit is its root.
  if (path === undefined || path === '/') {
    if (await hasLoaded([swhid, visit, anchor], swhid, requester, resolver)) return true;
  }
  return (
    isInsideDeposit(swhid) &&
    (await hasLoaded([visit, anchor], swhid, requester, resolver)) &&
    (await resolver.resolve(requester, [swhid])) !== undefined
  );
}

/** Resolves to whether one deposit has all the objects, and the origin if one is given. */
async function hasLoaded(
  objects: readonly (CoreSwhid | undefined)[],
  { qualifiers: { origin } }: Swhid,
  { client }: Requester,
  resolver: Resolver,
): Promise<boolean> {
  const conditions = allOf(objects, origin);
  return conditions !== undefined && resolver.deposits.hasAll(client, conditions);
}

/** Returns whether the object can be found inside a deposit. */
function isInsideDeposit(swhid: Swhid): boolean {
  return (swhid.type === 'cnt' || swhid.type === 'dir') && isAnchored(swhid);
}

function unknownObjectReason(swhid: Swhid): string {
  if (isInsideDeposit(swhid)) return 'it is not in a deposit of this client that its qualifiers name';
  if (swhid.type === 'cnt') return 'a content is found only by the anchor or the visit of its deposit';
  return 'no deposit of this client that is done has this directory, revision or snapshot';
}

function unknownReference(what: string): DepositRefusal {
  return new DepositRefusal('REFERENCE_UNKNOWN', `Unknown reference: ${what}.`);
}
