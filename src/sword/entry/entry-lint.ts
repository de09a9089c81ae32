import type { FieldFault } from '../../domain/deposit/events.ts';
import { parseGitDate } from '../../domain/deposit/metadata/git-date.ts';
import { ATOM, CODEMETA } from '../namespaces.ts';
import type { Steps } from './cooperative.ts';
import { normalizeSpace, truncate } from './entry-text.ts';
import { entryUrl } from './entry-url.ts';
import {
  DATE_TERMS,
  nearestTerm,
  PERSON_TERMS,
  URL_TERMS,
  VOCABULARIES,
  type Vocabulary,
} from './metadata-terms.ts';
import { childrenOf, descendants, type XmlElement } from './xml-tree.ts';

export type EntryFaults = {
  readonly fieldFaults: readonly FieldFault[];
  /** Minimum number of further faults that do not fit into an event. */
  readonly fieldFaultsLeftOut: number;
};

/** Maximum characters of a value in a fault. */
const MAX_VALUE = 64;
/** Maximum number of faults examined; more would add no information about a badly broken entry. */
const MAX_FAULTS = 200;
/** Maximum bytes of all faults as JSON, in addition to those of the facts of the entry. */
const MAX_BYTES = 1_200;

/**
 * Checks an entry against Atom and CodeMeta; returns each fault once. Faults that may cause rejection come first, so
 * that {@link MAX_BYTES} never drops them.
 */
export function* entryFaults(root: XmlElement): Steps<EntryFaults> {
  const all = new Map<string, FieldFault>();
  for (const fault of faultsOf(root)) {
    yield;
    if (!fault) continue;
    all.set(JSON.stringify(fault), fault);
    if (all.size >= MAX_FAULTS) break;
  }
  let bytes = 0;
  const kept = [...all].filter(([json]) => (bytes += Buffer.byteLength(json) + 1) <= MAX_BYTES);
  return { fieldFaults: kept.map(([, fault]) => fault), fieldFaultsLeftOut: all.size - kept.length };
}

/** Yields faults; `undefined` marks a step without one. */
function* faultsOf(root: XmlElement): Generator<FieldFault | undefined> {
  const fields = root.children.filter(({ ns }) => CODEMETA.includes(ns));
  const persons: FieldFault[] = [];
  for (const field of fields) {
    yield;
    if (PERSON_TERMS.includes(field.local)) persons.push(...personFaults(field));
  }
  for (const field of fields) {
    yield;
    if (DATE_TERMS.includes(field.local)) yield* dateFaults(field);
  }
  yield* persons.filter(({ kind }) => kind === 'nameless');
  for (const field of fields) {
    yield;
    yield* affiliationFaults(field);
  }
  yield* persons.filter(({ kind }) => kind !== 'nameless');
  const seen = new Set<string>(); // each name is looked up once
  // Elements inside other vocabularies (XHTML, schema.org) belong to those.
  for (const element of descendants(root)) {
    yield;
    const vocabulary = VOCABULARIES.get(element.ns);
    if (!vocabulary) continue;
    const name = `${element.ns} ${element.local}`;
    if (!seen.has(name)) yield* termFaults(element, vocabulary);
    seen.add(name);
    if (element.ns !== ATOM && URL_TERMS.has(element.local)) yield* urlFaults(element, vocabulary);
  }
}

function* dateFaults(field: XmlElement): Generator<FieldFault> {
  const value = normalizeSpace(field.text, MAX_VALUE);
  if (value === '' || value.length > MAX_VALUE || !parseGitDate(value))
    yield faultOf('date', field, field, value);
}

/** Checks that a person has a `name`. A person with only parts of a name, or a plain text, can still be identified. */
function* personFaults(person: XmlElement): Generator<FieldFault> {
  const texts = person.children.filter(({ ns, text }) => CODEMETA.includes(ns) && /\S/.test(text));
  if (texts.some(({ local }) => local === 'name')) return;
  const parts = texts.some(({ local }) => local === 'givenName' || local === 'familyName');
  if (parts && person.ns !== CODEMETA[0]) return; // CodeMeta 3.0 requires no more
  const plain = person.children.length === 0 && /\S/.test(person.text);
  const value =
    texts.length > 0
      ? texts
          .slice(0, MAX_VALUE)
          .map(({ text }) => normalizeSpace(text, MAX_VALUE))
          .join(' ')
      : normalizeSpace(person.text, MAX_VALUE);
  yield faultOf(parts || plain ? 'person-without-name' : 'nameless', person, person, value);
}

/** Checks affiliations. CodeMeta has two forms: an organization with a name, and a plain text. */
function* affiliationFaults(field: XmlElement): Generator<FieldFault> {
  for (const affiliation of field.children) {
    if (affiliation.local !== 'affiliation' || !CODEMETA.includes(affiliation.ns)) continue;
    const { children, text } = affiliation;
    const names = childrenOf(affiliation, CODEMETA, 'name');
    const named = children.length === 0 ? /\S/.test(text) : names.some((name) => name.text !== '');
    if (!named) yield faultOf('affiliation', field, affiliation, normalizeSpace(text, MAX_VALUE));
  }
}

function* termFaults(element: XmlElement, vocabulary: Vocabulary): Generator<FieldFault> {
  const { local, ns } = element;
  if (vocabulary.terms.has(local)) return;
  const elsewhere = [...VOCABULARIES].find(([other, { terms }]) => other !== ns && terms.has(local))?.[1];
  const hint = elsewhere ? `${elsewhere.prefix}:${local}` : nearestTerm(local, vocabulary);
  yield { ...faultOf('term', element, element, local), vocabulary: vocabulary.name, hint };
}

/** Checks that an element is a URL, unless it has children, such as a license with a name and a URL. */
function* urlFaults(element: XmlElement, { name }: Vocabulary): Generator<FieldFault> {
  // Nested elements each repeat the text of those inside.
  if (element.children.length > 0 || entryUrl(element.text.trim())) return;
  yield { ...faultOf('url', element, element, normalizeSpace(element.text, MAX_VALUE)), vocabulary: name };
}

function faultOf(kind: FieldFault['kind'], field: XmlElement, { ns }: XmlElement, value: string): FieldFault {
  const { name = '', prefix = '' } = VOCABULARIES.get(ns) ?? {};
  return {
    kind,
    field: truncate(`${prefix}:${field.local}`, MAX_VALUE),
    vocabulary: name,
    value: truncate(value, MAX_VALUE),
    hint: null,
  };
}
