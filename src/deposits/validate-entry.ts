import type { ClientLogin } from '../../projections/client-logins.ts';
import { allOf, isAnchored } from '../contents/deposit-filter.ts';
import type { Requester } from '../contents/loaded-deposits.ts';
import type { Resolver } from '../contents/resolver.ts';
import { DepositRefusal } from '../domain/deposit/errors.ts';
import type { EntryFacts, MetadataTarget, Reference } from '../domain/deposit/events.ts';
import { assertMetadataDeposit, assertNoReference } from '../domain/deposit/metadata/decide-metadata.ts';
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
import type { DepositQueries } from './queries.ts';

/** Validates the facts of an entry before anything is stored; rejects to refuse it. */
export type EntryValidator = (facts: EntryFacts) => Promise<void>;

/** Look-ups among the client's loaded deposits; answers are never older than any that a node has given. */
export type LoadedDepositsLookup = Pick<DepositQueries, 'hasLoaded' | 'hasLoadedObject'> & {
  /** Resolves to whether a content or directory is in a deposit that its qualifiers name. */
  readonly isInside: (swhid: Swhid, requester: Requester) => Promise<boolean>;
};

export function loadedDepositsLookup(
  queries: DepositQueries,
  resolver: Pick<Resolver, 'resolve'>,
): LoadedDepositsLookup {
  return {
    hasLoaded: (client, origin) => queries.hasLoaded(client, origin),
    hasLoadedObject: (client, conditions) => queries.hasLoadedObject(client, conditions),
    isInside: async (swhid, requester) => (await resolver.resolve(requester, [swhid])) !== undefined,
  };
}

/** Returns the validator of an entry that accompanies software. */
export function softwareEntryValidator(login: ClientLogin, loaded: LoadedDepositsLookup): EntryValidator {
  return async (facts) => {
    assertNoReference(facts);
    await validateOrigin(facts, login, loaded);
  };
}

/**
 * Returns the validator of an entry sent to a collection: with software, or with a reference. Then it is a deposit of
 * its own, about an earlier deposit of this client.
 */
export function collectionEntryValidator(
  login: ClientLogin,
  loaded: LoadedDepositsLookup,
): (request: NewEntry) => EntryValidator {
  return ({ body, inProgress, slug }) =>
    async (facts) => {
      if (facts.reference) {
        if (body?.kind !== 'entry') assertNoReference(facts);
        if (inProgress === true) {
          throw badRequest('An entry with a reference is a whole deposit: send it with In-Progress: false.');
        }
        if (slug !== null) {
          throw badRequest(
            'A Slug names the origin of software, and an entry with a reference has no software: omit the Slug.',
          );
        }
        assertMetadataDeposit(facts, login.providerUrl);
        await targetOf(facts.reference, login, loaded);
      }
      await validateOrigin(facts, login, loaded);
    };
}

/** The request that brings an entry to a collection. */
type NewEntry = {
  readonly body: { readonly kind: string } | undefined;
  readonly inProgress: boolean | null;
  readonly slug: string | null;
};

/** Resolves to the target of a reference. @throws {SwordError} 400: this client has not deposited it. */
export async function targetOf(
  reference: Reference,
  requester: Requester,
  loaded: LoadedDepositsLookup,
): Promise<MetadataTarget> {
  if (reference.kind === 'origin') {
    const url = reference.value;
    if (await loaded.hasLoaded(requester.client, url)) return { kind: 'origin', url };
    throw unknownReference(`the origin ${url}: this client has no deposit from there that is done`);
  }
  const swhid = swhidIn(reference.value);
  const core = formatSwhid(swhid);
  if (await isKnown(swhid, requester, loaded)) {
    return { kind: 'object', swhid: core, context: formatQualifiedSwhid(swhid) };
  }
  const bare = { type: swhid.type, id: swhid.id, qualifiers: {} };
  throw (await isKnown(bare, requester, loaded))
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

async function isKnown(swhid: Swhid, requester: Requester, loaded: LoadedDepositsLookup): Promise<boolean> {
  const { visit, anchor, path } = swhid.qualifiers;
  // The directory of a deposit is its root.
  if (path === undefined || path === '/') {
    if (await hasLoaded([swhid, visit, anchor], swhid, requester, loaded)) return true;
  }
  return (
    isInsideDeposit(swhid) &&
    (await hasLoaded([visit, anchor], swhid, requester, loaded)) &&
    loaded.isInside(swhid, requester)
  );
}

/** Resolves to whether one deposit has all the objects, and the origin if one is given. */
async function hasLoaded(
  objects: readonly (CoreSwhid | undefined)[],
  { qualifiers: { origin } }: Swhid,
  { client }: Requester,
  loaded: LoadedDepositsLookup,
): Promise<boolean> {
  const conditions = allOf(objects, origin);
  return conditions !== undefined && loaded.hasLoadedObject(client, conditions);
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
