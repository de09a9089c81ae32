import { DCTERMS } from '../namespaces.ts';
import type { EntryDocument } from './atom-entry.ts';

/** An element of an entry in the Dublin Core terms namespace. */
export type DublinCoreTerm = {
  readonly name: string;
  readonly value: string;
  /** Language tag (RFC 5646), unless the entry has none. */
  readonly lang?: string;
};

/** Limits of one entry; further terms are dropped. */
const MAX_TERMS = 100;
const MAX_CHARACTERS = 16_384;

/** Returns the terms that are direct children of an entry, in document order, within the limits. */
export function dublinCoreTerms({ root }: EntryDocument): readonly DublinCoreTerm[] {
  const terms: DublinCoreTerm[] = [];
  let characters = 0;
  for (const { ns, local, text, attributes } of root.children) {
    const value = text.trim();
    if (ns !== DCTERMS || value === '' || !/^[A-Za-z]{1,64}$/.test(local)) continue;
    characters += value.length;
    if (terms.length === MAX_TERMS || characters > MAX_CHARACTERS) break;
    const lang = (attributes.get(XML_LANG) ?? root.attributes.get(XML_LANG) ?? '').trim();
    terms.push({ name: local, value, ...(LANGUAGE_TAG.test(lang) && { lang }) });
  }
  return terms;
}

const XML_LANG = '{http://www.w3.org/XML/1998/namespace}lang';
const LANGUAGE_TAG = /^(?=.{1,64}$)[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/i;
