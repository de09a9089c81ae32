import type { FieldFault, Reference } from '../../domain/deposit/events.ts';
import { ATOM, CODEMETA, DCTERMS } from '../namespaces.ts';
import { badRequest } from '../sword-error.ts';
import type { EntryDocument } from './atom-entry.ts';
import { collapsed } from './collapsed-text.ts';
import { entryFaults } from './entry-faults.ts';
import { type NamedOrigin, namedOrigin } from './entry-origin.ts';
import { namedProvenance, namedReference } from './entry-reference.ts';
import { type UrlHosts, urlHosts } from './entry-url-hosts.ts';
import type { Steps } from './steps.ts';
import type { XmlElement } from './xml-tree.ts';

/** What checks and views need of an entry: plain JSON, below 7 kB whatever the entry holds. */
export type EntryFacts = UrlHosts & {
  /** White space collapsed; `null` when no title or name has text. */
  readonly title: string | null;
  /** A title or name with text is there, in Atom or CodeMeta. */
  readonly hasTitle: boolean;
  /** An author with text is there, in Atom or CodeMeta. */
  readonly hasAuthor: boolean;
  /** Names, in document order; the first 20 at most. */
  readonly authors: readonly string[];
  readonly origin: NamedOrigin | null;
  readonly externalIdentifier: string | null;
  readonly version: string | null;
  /** As written. */
  readonly dateCreated: string | null;
  readonly datePublished: string | null;
  readonly id: string | null;
  readonly updated: string | null;
  readonly provenance: string | null;
  /** Left out when there are none. */
  readonly fieldFaults?: readonly FieldFault[];
  readonly fieldFaultsLeftOut?: number;
  readonly reference?: Reference;
};

/** `domain` is that of the client, if it has one. */
export function* entryFacts(
  { root }: EntryDocument,
  depositNamespace: string,
  domain: string | null,
): Steps<EntryFacts> {
  const single = yield* singleFacts(root, depositNamespace);
  const free = MAX_BYTES - jsonBytes(single) - RESERVED_BYTES;
  const hosts = yield* urlHosts(root, Math.min(MAX_HOST_BYTES, free), domain);
  yield;
  const authors = fitting(authorNames(root), free - jsonBytes(hosts.urlHosts));
  yield;
  const pointers = pointersOf(root, depositNamespace, single);
  yield;
  return { ...single, ...hosts, authors, ...pointers, ...(yield* faultsOf(root)) };
}

/** Characters of a single value; none has more than the title. */
const MAX = { title: 500, author: 200, identifier: 200, provenance: 150, short: 64 } as const;
const MAX_AUTHORS = 20;
/** Bytes of JSON: of all facts, kept back for the names and flags of the lists, and of the hosts. */
const MAX_BYTES = 5_000;
const RESERVED_BYTES = 100;
const MAX_HOST_BYTES = 3_000;
/** On top of them. */
const MAX_FAULT_BYTES = 1_200;

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
    title: cut(title, MAX.title),
    hasTitle: ownTitle !== null,
    hasAuthor,
    origin,
    externalIdentifier: cut(externalIdentifier, MAX.identifier),
    version: cut(version, MAX.short),
    dateCreated: cut(firstText(root, CODEMETA, 'dateCreated'), MAX.short),
    datePublished: cut(firstText(root, CODEMETA, 'datePublished'), MAX.short),
    id: cut(firstText(root, [ATOM], 'id'), MAX.identifier),
    updated: cut(firstText(root, [ATOM], 'updated'), MAX.short),
  };
}

/** What the entry is about and who vouches for it. Software comes with an origin, or it is about something known. */
function pointersOf(root: XmlElement, depositNamespace: string, { origin }: Pick<EntryFacts, 'origin'>) {
  const reference = namedReference(root, depositNamespace);
  if (reference && origin) {
    throw badRequest(
      'The entry has a reference and an origin to create or add to: send one of them, a reference comes without software.',
    );
  }
  const provenance = cut(namedProvenance(root, depositNamespace), MAX.provenance);
  return { provenance, ...(reference && { reference }) };
}

function* faultsOf(root: XmlElement): Steps<Pick<EntryFacts, 'fieldFaults' | 'fieldFaultsLeftOut'>> {
  const { fieldFaults, fieldFaultsLeftOut } = yield* entryFaults(root, MAX_FAULT_BYTES);
  return {
    ...(fieldFaults.length > 0 && { fieldFaults }),
    ...(fieldFaultsLeftOut > 0 && { fieldFaultsLeftOut }),
  };
}

function authorElements(root: XmlElement): readonly XmlElement[] {
  return childrenOf(root, TITLED, 'author');
}

/** An author is named by a `name`, by given and family name, or by whatever text there is. */
function authorNames(root: XmlElement): string[] {
  return authorElements(root)
    .values()
    .map(
      (author) =>
        firstText(author, TITLED, 'name') ?? givenAndFamilyName(author) ?? collapsed(author.text, MAX.author),
    )
    .filter((name) => name !== '')
    .take(MAX_AUTHORS)
    .map((name) => cut(name, MAX.author))
    .toArray();
}

function givenAndFamilyName(author: XmlElement): string | null {
  const names = [firstText(author, CODEMETA, 'givenName'), firstText(author, CODEMETA, 'familyName')];
  return names.some((name) => name !== null) ? names.filter((name) => name !== null).join(' ') : null;
}

/** The first of the children with one of these names that has any text. */
function firstText(parent: XmlElement, namespaces: readonly string[], ...locals: string[]): string | null {
  const found = childrenOf(parent, namespaces, ...locals).find(({ text }) => /\S/.test(text));
  return found ? collapsed(found.text, MAX.title) : null;
}

function childrenOf(
  parent: XmlElement,
  namespaces: readonly string[],
  ...locals: string[]
): readonly XmlElement[] {
  return parent.children.filter(({ ns, local }) => locals.includes(local) && namespaces.includes(ns));
}

/** Never through the middle of a surrogate pair. */
function cut<Text extends string | null>(text: Text, length: number): Text | string {
  return text === null || text.length <= length
    ? text
    : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function fitting(names: readonly string[], bytes: number): string[] {
  let used = 0;
  return names.filter((name) => (used += jsonBytes(name) + 1) <= bytes);
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
