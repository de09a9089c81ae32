import type { EntryFacts as StoredFacts } from '../../domain/deposit/events.ts';
import { ATOM, CODEMETA, DCTERMS } from '../namespaces.ts';
import { badRequest } from '../sword-error.ts';
import type { EntryDocument } from './atom-entry.ts';
import type { Steps } from './cooperative.ts';
import { entryFaults } from './entry-lint.ts';
import { namedOrigin, namedProvenance, namedReference } from './entry-subject.ts';
import { normalizeSpace, truncate, truncateToBytes } from './entry-text.ts';
import { type UrlHosts, urlHosts } from './entry-url-hosts.ts';
import { childrenOf, type XmlElement } from './xml-tree.ts';

/** Facts of an entry for checks and views: plain JSON, below 7.5 kB unless a value is refused for its length. */
export type EntryFacts = StoredFacts &
  UrlHosts & {
    readonly id: string | null;
    readonly updated: string | null;
    readonly provenance: string | null;
  };

/** Extracts the facts of an entry. `domain` is that of the client, if it has one. */
export function* entryFacts(
  { root }: EntryDocument,
  depositNamespace: string,
  domain: string | null,
): Steps<EntryFacts> {
  const single = yield* singleFacts(root, depositNamespace);
  const pointers = pointersOf(root, depositNamespace, single);
  yield;
  const free = MAX_BYTES - jsonBytes(single) - jsonBytes(pointers) - RESERVED_BYTES;
  const hosts = yield* urlHosts(root, Math.min(MAX_HOST_BYTES, free), domain);
  yield;
  const authors = namesWithinLimit(authorNames(root), free - jsonBytes(hosts.urlHosts));
  yield;
  return { ...single, ...hosts, authors, ...pointers, ...(yield* faultsOf(root)) };
}

/** Maximum characters of a single value that is truncated; the title has the largest limit. */
const MAX_CHARACTERS = { title: 500, author: 200, short: 64 } as const;
/** Maximum bytes of JSON of the title and of the `id`, which are truncated. */
const [MAX_TITLE_BYTES, MAX_ID_BYTES] = [1_000, 200];
/** UTF-16 units up to which the white space of a value is collapsed: no value that is accepted has more. */
const MAX_UNITS = 510;
const MAX_AUTHORS = 20;
/** Bytes of JSON: for all facts but faults; reserved for the names and flags of the lists; for the hosts. */
const MAX_BYTES = 6_200;
const RESERVED_BYTES = 100;
const MAX_HOST_BYTES = 3_000;

type SingleFacts = Omit<
  EntryFacts,
  keyof UrlHosts | 'authors' | 'provenance' | 'fieldFaults' | 'fieldFaultsLeftOut' | 'reference'
>;

const TITLED = [ATOM, ...CODEMETA];

function* singleFacts(root: XmlElement, depositNamespace: string): Steps<SingleFacts> {
  const ownTitle =
    firstText(root, [ATOM], 'title') ??
    firstText(root, CODEMETA, 'name') ??
    firstText(root, TITLED, 'name', 'title');
  yield;
  const title = ownTitle ?? firstText(root, [DCTERMS], 'title');
  const hasAuthor = authorElements(root).some(({ text }) => /\S/.test(text));
  yield;
  const origin = namedOrigin(root, depositNamespace);
  yield;
  const externalIdentifier = firstText(root, [ATOM, ...CODEMETA, depositNamespace], 'external_identifier');
  const version = firstText(root, CODEMETA, 'softwareVersion') ?? firstText(root, CODEMETA, 'version');
  yield;
  return {
    title: truncateToBytes(truncate(title, MAX_CHARACTERS.title), MAX_TITLE_BYTES),
    hasTitle: ownTitle !== null,
    hasAuthor,
    origin,
    externalIdentifier,
    version: truncate(version, MAX_CHARACTERS.short),
    dateCreated: truncate(firstText(root, CODEMETA, 'dateCreated'), MAX_CHARACTERS.short),
    datePublished: truncate(firstText(root, CODEMETA, 'datePublished'), MAX_CHARACTERS.short),
    id: truncateToBytes(firstText(root, [ATOM], 'id'), MAX_ID_BYTES),
    updated: truncate(firstText(root, [ATOM], 'updated'), MAX_CHARACTERS.short),
  };
}

/** Returns reference and provenance. An entry with software has an origin, one without has a reference. */
function pointersOf(root: XmlElement, depositNamespace: string, { origin }: Pick<EntryFacts, 'origin'>) {
  const reference = namedReference(root, depositNamespace);
  if (reference && origin) {
    throw badRequest(
      'The entry has a reference and an origin to create or add to: send one of them; a deposit with a reference has no software.',
    );
  }
  const provenance = namedProvenance(root, depositNamespace);
  return { provenance, ...(reference && { reference }) };
}

function* faultsOf(root: XmlElement): Steps<Pick<EntryFacts, 'fieldFaults' | 'fieldFaultsLeftOut'>> {
  const { fieldFaults, fieldFaultsLeftOut } = yield* entryFaults(root);
  return {
    ...(fieldFaults.length > 0 && { fieldFaults }),
    ...(fieldFaultsLeftOut > 0 && { fieldFaultsLeftOut }),
  };
}

function authorElements(root: XmlElement): readonly XmlElement[] {
  return childrenOf(root, TITLED, 'author');
}

/** Returns the names of authors: from `name`, from given and family name, or else all text of the element. */
function authorNames(root: XmlElement): string[] {
  return authorElements(root)
    .values()
    .map(
      (author) =>
        firstText(author, TITLED, 'name') ??
        givenAndFamilyName(author) ??
        normalizeSpace(author.text, MAX_CHARACTERS.author),
    )
    .filter((name) => name !== '')
    .take(MAX_AUTHORS)
    .map((name) => truncate(name, MAX_CHARACTERS.author))
    .toArray();
}

function givenAndFamilyName(author: XmlElement): string | null {
  const names = [firstText(author, CODEMETA, 'givenName'), firstText(author, CODEMETA, 'familyName')];
  return names.some((name) => name !== null) ? names.filter((name) => name !== null).join(' ') : null;
}

/** Returns the text of the first child with one of these names that has any. */
function firstText(parent: XmlElement, namespaces: readonly string[], ...locals: string[]): string | null {
  const found = childrenOf(parent, namespaces, ...locals).find(({ text }) => /\S/.test(text));
  return found ? normalizeSpace(found.text, MAX_UNITS) : null;
}

function namesWithinLimit(names: readonly string[], bytes: number): string[] {
  let used = 0;
  return names.filter((name) => (used += jsonBytes(name) + 1) <= bytes);
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
