import { readFileSync } from 'node:fs';
import { ATOM, CODEMETA, DEFAULT_DEPOSIT_NAMESPACE, SCHEMA_ORG } from '../../src/sword/namespaces.ts';
import { type BodyElement, element, forbiddenIn } from '../../src/sword/xml/xml-body.ts';
import { xmlText } from '../../src/sword/xml/xml-text.ts';
import { UsageFault, unreadable } from '../faults.ts';
import type { OptionValues } from '../session.ts';

/** A metadata entry ready to be sent. */
export type Entry = { readonly bytes: Uint8Array; readonly contentType: string };

export const METADATA_OPTIONS = {
  metadata: { type: 'string' },
  name: { type: 'string' },
  author: { type: 'string', multiple: true },
  version: { type: 'string' },
  url: { type: 'string' },
  license: { type: 'string', multiple: true },
  description: { type: 'string' },
  'date-published': { type: 'string' },
  'date-created': { type: 'string' },
  keyword: { type: 'string', multiple: true },
  provenance: { type: 'string' },
} as const;

export type Metadata = OptionValues<typeof METADATA_OPTIONS>;

const METADATA_NAMES = Object.keys(METADATA_OPTIONS) as (keyof Metadata)[]; // keys of a constant

const ENTRY_TYPE = 'application/atom+xml;type=entry';

/**
 * Returns the entry that the options describe, or the file they name; `null` without such options. @throws {UsageFault}
 */
export function entryFrom(given: Metadata): Entry | null {
  const { metadata: file } = given;
  const [described] = METADATA_NAMES.filter((name) => name !== 'metadata' && given[name] !== undefined);
  if (file !== undefined) {
    if (described !== undefined) throw new UsageFault(`--metadata cannot be combined with --${described}.`);
    const bytes = contentOf(file);
    if (/^(?:\xef\xbb\xbf)?\s*[{[]/.test(bytes.toString('latin1', 0, 100)))
      throw new UsageFault(
        `${file} is JSON: give an Atom entry (XML) as --metadata, or options such as --name and --author.`,
      );
    // Sent unchanged, in the encoding that it declares itself.
    return { bytes, contentType: ENTRY_TYPE };
  }
  if (described === undefined) return null;
  if (!given.name || !given.author?.length)
    throw new UsageFault(
      'Incomplete metadata: give --name and at least one --author, or a file with --metadata.',
    );
  return { bytes: Buffer.from(madeEntry(given)), contentType: `${ENTRY_TYPE};charset=utf-8` };
}

/** Returns CodeMeta 2.0 in an Atom entry. @throws {UsageFault} */
export function madeEntry(given: Metadata): string {
  assertXml(given);
  const authors = (given.author ?? []).map(personOf);
  const children = [
    element('title', given.name),
    element('codemeta:name', given.name),
    ...authors.map((author) => element('codemeta:author', personElements(author))),
    ...single('codemeta:version', given.version),
    ...single('codemeta:url', given.url),
    ...single('codemeta:description', given.description),
    ...(given.license ?? []).map(licenseElement),
    ...(given.keyword ?? []).flatMap((keyword) => single('codemeta:keywords', keyword)),
    ...single('codemeta:dateCreated', given['date-created']),
    ...single('codemeta:datePublished', given['date-published']),
    ...(given.provenance === undefined ? [] : [provenanceElement(given.provenance)]),
  ];
  const namespaces = { 'xmlns:codemeta': CODEMETA[0] ?? '', 'xmlns:schema': SCHEMA_ORG[0] ?? '' };
  const root = element('entry', children, namespaces);
  return xmlText(root, { defaultNamespace: ATOM, depositNamespace: DEFAULT_DEPOSIT_NAMESPACE });
}

/** @throws {UsageFault} an option contains a character that the entry would have to replace. */
function assertXml(given: Metadata): void {
  for (const name of METADATA_NAMES) {
    assertUtf8(name, given[name]);
    const character = forbiddenIn(String(given[name] ?? ''));
    if (character === undefined) continue;
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new UsageFault(`--${name} contains the character U+${code}, which XML cannot contain.`);
  }
}

/** @throws {UsageFault} Node has replaced bytes of the option that are not UTF-8. */
export function assertUtf8(name: string, value: unknown): void {
  if (String(value).includes('\ufffd')) throw new UsageFault(`--${name} is not UTF-8: encode it as UTF-8.`);
}

type Person = { readonly name: string; readonly email: string | undefined };

/** Parses `Ada Lovelace` or `Ada Lovelace <ada@example.org>`. */
function personOf(text: string): Person {
  const [, name, email] = /^(.*\S)\s*<([^<>\s]+@[^<>\s]+)>\s*$/.exec(text) ?? [];
  const person = name === undefined ? { name: text.trim(), email: undefined } : { name: name.trim(), email };
  if (person.name === '') throw new UsageFault('--author needs a name.');
  return person;
}

function personElements({ name, email }: Person): BodyElement[] {
  return [element('codemeta:name', name), ...single('codemeta:email', email)];
}

/** Returns the element for an SPDX identifier, a name, or the URL of the text. */
function licenseElement(license: string): BodyElement {
  const isUrl = /^https?:\/\//.test(license);
  return element('codemeta:license', [element(isUrl ? 'codemeta:url' : 'codemeta:name', license)]);
}

function provenanceElement(url: string): BodyElement {
  return element('depositns:deposit', [
    element('depositns:metadata-provenance', [element('schema:url', url)]),
  ]);
}

function single(name: string, value: string | undefined): BodyElement[] {
  return value === undefined ? [] : [element(name, value)];
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}
