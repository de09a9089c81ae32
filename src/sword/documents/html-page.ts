import { hash } from 'node:crypto';
import type { Document, Fact, Link, Part } from './document.ts';

const STYLE =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif;background:#fff;color:#1b1b1b}a{color:#0b4fb3}' +
  '@media(prefers-color-scheme:dark){:root{background:#141414;color:#e6e6e6}a{color:#9cc2ff}}body{max-width:60rem;margin:0 auto;padding:1rem;' +
  'overflow-wrap:anywhere}h1{font-size:1.5rem}h2{font-size:1.25rem}h3{font-size:1.1rem}dt{font-weight:bold}dd{margin:0 0 .5rem;white-space:' +
  'pre-line}ul.parts{list-style:none;padding:0}ul.parts>li{border-top:1px solid;padding:.5rem 0}';

/** Policy of pages: no script, no request, only their own style. */
export const HTML_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Facts at the beginning, in this order, and at the end. */
const FIRST = ['summary', 'verbose_description', 'deposit_id', 'deposit_status', 'deposit_status_detail'];
const LAST: ReadonlySet<string> = new Set(['links', 'id', 'href', 'treatment']);

/** Labels of facts whose names say too little. */
const LABELS: Readonly<Record<string, string>> = {
  deposit_id: 'Deposit',
  deposit_ref_id: 'SWHID',
  deposit_ref_id_context: 'SWHID with context',
  deposit_swh_id: 'SWHID',
  deposit_swh_id_context: 'SWHID with context',
  deposit_origin_url: 'Origin',
  swhid: 'SWHID',
  swhid_context: 'SWHID with context',
  origin_url: 'Origin',
  status_iri: 'Status',
  verbose_description: 'Details',
  max_upload_size: 'Maximum upload size, in bytes',
  max_resumable_upload_size: 'Maximum size of a resumable upload, in bytes',
  max_unpacked_size: 'Maximum unpacked size, in bytes',
  max_members: 'Maximum number of members',
  max_ratio: 'Maximum ratio of unpacked to packed bytes',
  accept: 'Accepted types',
  accept_multipart_related: 'Accepted types in multipart/related',
  accept_packaging: 'Accepted packaging',
  length: 'Length, in bytes',
  sha256: 'SHA-256',
  uuid: 'UUID',
  id: 'Atom id',
  src: 'Address',
  href: 'Address',
};

/** Names of links by their relation; other relations are shown by their last segment. */
const LINK_NAMES: Readonly<Record<string, string>> = {
  edit: 'Metadata (Edit-IRI)',
  'edit-media': 'Archives (EM-IRI)',
  alternate: 'Status',
  'version-history': 'History',
};

/** Titles of documents that have none, by their element. */
const TITLES: Readonly<Record<string, string>> = {
  service: 'Service document',
  notifications: 'Notifications that were not delivered',
};

/** Yields a page for people, without script, in pieces: the head, one for each part of a long list, the end. */
export function* htmlPieces(document: Document): Iterable<string> {
  const title = titleOf(document);
  yield pageStart(title);
  yield* bodyOf(document.facts, 2);
  yield PAGE_END;
}

/** Returns the beginning of a page, up to its first heading; `links` are elements of its head. */
export function pageStart(title: string, links = ''): string {
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>${links}<style>${STYLE}</style></head><body><main><h1><bdi>${escaped(title)}</bdi></h1>`;
}

export const PAGE_END = '</main></body></html>\n';

function* bodyOf(facts: readonly Fact[], level: number): Iterable<string> {
  const named = facts.filter(({ name }) => name !== undefined).map(ofDeposit);
  const shown = named.filter((fact) => fact.parts === undefined && isShown(fact, named));
  const rows = shown.toSorted((one, other) => rankOf(one) - rankOf(other)).map(rowOf);
  if (rows.length > 0) yield `<dl>${rows.join('')}</dl>`;
  for (const { name = '', parts } of named) {
    if (parts === undefined) continue;
    const heading = Math.min(level, 6);
    yield `<section><h${heading}>${escaped(labelOf(name))}</h${heading}>`;
    if (!(Symbol.iterator in parts)) yield* bodyOf(parts.facts, level + 1);
    else yield* listOf(parts, level + 1);
    yield '</section>';
  }
}

function* listOf(parts: Iterable<Part>, level: number): Iterable<string> {
  let isEmpty = true;
  for (const { facts } of parts) {
    const title = textOf(facts, 'title');
    const heading = title === '' ? '' : `<h${level}><bdi>${escaped(title)}</bdi></h${level}>`;
    yield `${isEmpty ? '<ul class="parts">' : ''}<li>${heading}${[...bodyOf(facts, level + 1)].join('')}</li>`;
    isEmpty = false;
  }
  yield isEmpty ? '<p>None.</p>' : '</ul>';
}

function titleOf({ element, facts }: Document): string {
  return textOf(facts, 'title') || (TITLES[element] ?? 'Deposit');
}

function textOf(facts: readonly Fact[], wanted: string): string {
  const value = facts.find(({ name }) => name === wanted)?.value;
  return typeof value === 'string' ? value : '';
}

/** Returns the place of a fact: what a person looks for comes first, links and technical facts last. */
function rankOf({ name = '' }: Fact): number {
  const place = FIRST.indexOf(name);
  if (place >= 0) return place;
  return FIRST.length + (name.startsWith('deposit_') ? 0 : LAST.has(name) ? 2 : 1);
}

/** Returns the id of a deposit as a fact of its name: other ids are texts of Atom. */
function ofDeposit(fact: Fact): Fact {
  return fact.name === 'id' && typeof fact.value === 'number' ? { ...fact, name: 'deposit_id' } : fact;
}

/** Whether a fact is shown: not the title, nothing empty, no repeated summary, no older spelling of an identifier. */
function isShown({ name = '', value }: Fact, all: readonly Fact[]): boolean {
  if (name === 'title' || name === 'generator' || value === null || value === undefined || value === '')
    return false;
  if (Array.isArray(value) && value.length === 0) return false;
  if (name === 'verbose_description' && value === textOf(all, 'summary')) return false;
  return !(
    name.startsWith('deposit_swh_id') && all.some((fact) => fact.name === `deposit_ref${name.slice(11)}`)
  );
}

function rowOf({ name = '', value }: Fact): string {
  return `<dt>${escaped(labelOf(name))}</dt>${name === 'links' ? linkRows(value) : valueRows(value)}`;
}

function linkRows(value: unknown): string {
  return (value as readonly Link[])
    .map(({ rel, href, type }) => {
      const name = LINK_NAMES[rel] ?? labelOf(rel.slice(rel.lastIndexOf('/') + 1));
      const format = `${rel === 'alternate' ? 'Other format' : name}, ${type}`;
      return `<dd><a href="${escaped(href)}">${escaped(type === undefined ? name : format)}</a></dd>`;
    })
    .join('');
}

function valueRows(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueRows).join('');
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
    const { label, value: labelled } = Object.fromEntries(parts) as Readonly<Record<string, unknown>>;
    if (typeof label === 'string' && labelled !== undefined)
      return `<dd>${escaped(labelOf(label))}: ${inline(labelled)}</dd>`;
    if (parts.length === 1) return `<dd>${inline(parts[0]?.[1])}</dd>`;
    return parts.map(([name, inner]) => `<dd>${escaped(labelOf(name))}: ${inline(inner)}</dd>`).join('');
  }
  return `<dd>${inline(value)}</dd>`;
}

function inline(value: unknown): string {
  if (typeof value === 'object' && value !== null) return escaped(JSON.stringify(value));
  const text = String(value);
  const isLink = /^https?:\/\/[^\s"<>]+$/.test(text);
  return isLink
    ? `<a href="${escaped(text)}" rel="noreferrer">${escaped(text)}</a>`
    : `<bdi>${escaped(text)}</bdi>`;
}

/** Returns a name of JSON as a label: `deposit_status_detail` is "Status detail". */
function labelOf(name: string): string {
  const label = LABELS[name];
  if (label !== undefined) return label;
  const words = name
    .replace(/^deposit_/, '')
    .replaceAll(/[_-]/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
