import type { ClientLogin } from '../../../projections/client-logins.ts';
import { assertMetadataDeposit, assertNoReference } from '../../domain/deposit/decide-metadata.ts';
import { DepositRefusal } from '../../domain/deposit/errors.ts';
import type { EntryFacts, MetadataTarget, Reference } from '../../domain/deposit/events.ts';
import { havingAll, isAnchored } from '../../resolving/deposit-conditions.ts';
import type { Asker } from '../../resolving/loaded-deposits.ts';
import type { Resolver } from '../../resolving/resolver.ts';
import { parseReference } from '../../swhid/reference.ts';
import {
  type CoreSwhid,
  formatQualifiedSwhid,
  formatSwhid,
  InvalidSwhid,
  type Swhid,
} from '../../swhid/swhid.ts';
import { badRequest } from '../../sword/sword-error.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import type { BodyKind, DepositRequest } from './deposit-request.ts';

/** What a client has deposited here; no answer is ever behind what any node has told. */
export type LoadedThings = Pick<DepositDesk, 'hasLoaded' | 'hasLoadedObject'> & {
  /** Whether a content or directory is in a deposit that its qualifiers name. */
  readonly isInside: (swhid: Swhid, asker: Asker) => Promise<boolean>;
};

export function loadedThings(desk: DepositDesk, resolver: Pick<Resolver, 'resolve'>): LoadedThings {
  return {
    hasLoaded: (client, origin) => desk.hasLoaded(client, origin),
    hasLoadedObject: (client, conditions) => desk.hasLoadedObject(client, conditions),
    isInside: async (swhid, asker) => (await resolver.resolve(asker, [swhid])) !== undefined,
  };
}

/**
 * Judges an entry that comes to a collection before anything is kept: with a reference it is a deposit of its own,
 * about what this client has deposited here.
 */
export async function judgeReference(
  facts: EntryFacts,
  body: BodyKind,
  { inProgress, slug }: Pick<DepositRequest, 'inProgress' | 'slug'>,
  login: ClientLogin,
  things: LoadedThings,
): Promise<void> {
  if (!facts.reference) return;
  if (body.kind !== 'entry') assertNoReference(facts);
  if (inProgress === true) {
    throw badRequest('An entry with a reference is a whole deposit: send it with In-Progress: false.');
  }
  if (slug !== null) {
    throw badRequest(
      'A Slug names an origin for software, and an entry with a reference comes without: send no Slug.',
    );
  }
  assertMetadataDeposit(facts, login.providerUrl);
  await targetOf(facts.reference, login, things);
}

/** What a reference leads to. @throws {SwordError} 400: nothing that this client has deposited. */
export async function targetOf(
  reference: Reference,
  asker: Asker,
  things: LoadedThings,
): Promise<MetadataTarget> {
  if (reference.kind === 'origin') {
    const url = reference.value;
    if (await things.hasLoaded(asker.client, url)) return { kind: 'origin', url };
    throw unknown(`the origin ${url}: this client has no deposit from there that is done`);
  }
  const swhid = swhidIn(reference.value);
  const core = formatSwhid(swhid);
  if (await isKnown(swhid, asker, things)) {
    return { kind: 'object', swhid: core, context: formatQualifiedSwhid(swhid) };
  }
  const bare = { type: swhid.type, id: swhid.id, qualifiers: {} };
  throw (await isKnown(bare, asker, things))
    ? unknown(
        `${formatQualifiedSwhid(swhid)}: ${core} has been deposited by this client, but not in that context`,
      )
    : unknown(`${core}: ${nowhere(swhid)}`);
}

function swhidIn(text: string): Swhid {
  try {
    return parseReference(text);
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`The reference of the entry: ${error.message}`);
    throw error;
  }
}

async function isKnown(swhid: Swhid, asker: Asker, things: LoadedThings): Promise<boolean> {
  const { visit, anchor, path } = swhid.qualifiers;
  // The directory of a deposit is its root.
  if (path === undefined || path === '/') {
    if (await hasLoaded([swhid, visit, anchor], swhid, asker, things)) return true;
  }
  return (
    isPlaced(swhid) &&
    (await hasLoaded([visit, anchor], swhid, asker, things)) &&
    things.isInside(swhid, asker)
  );
}

/** Whether one deposit has all the objects, and the origin if one is told. */
async function hasLoaded(
  objects: readonly (CoreSwhid | undefined)[],
  { qualifiers: { origin } }: Swhid,
  { client }: Asker,
  things: LoadedThings,
): Promise<boolean> {
  const conditions = havingAll(objects, origin);
  return conditions !== undefined && things.hasLoadedObject(client, conditions);
}

/** It is to be found inside a deposit. */
function isPlaced(swhid: Swhid): boolean {
  return (swhid.type === 'cnt' || swhid.type === 'dir') && isAnchored(swhid);
}

function nowhere(swhid: Swhid): string {
  if (isPlaced(swhid)) return 'it is not in a deposit of this client that its qualifiers name';
  if (swhid.type === 'cnt') return 'a content is found only by the anchor or the visit of its deposit';
  return 'no deposit of this client that is done has this directory, revision or snapshot';
}

function unknown(what: string): DepositRefusal {
  return new DepositRefusal('REFERENCE_UNKNOWN', `Nothing is known here of ${what}.`);
}
