import { allOf, isAnchored } from '../contents/deposit-filter.ts';
import type { Requester } from '../contents/loaded-deposits.ts';
import type { Resolver } from '../contents/resolver.ts';
import { DepositRefusal } from '../domain/deposit/errors.ts';
import type { MetadataTarget, Reference } from '../domain/deposit/events.ts';
import {
  type CoreSwhid,
  formatQualifiedSwhid,
  formatSwhid,
  InvalidSwhid,
  parseReference,
  type Swhid,
} from '../swhid/swhid.ts';
import { badRequest } from '../sword/sword-error.ts';

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
