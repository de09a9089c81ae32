import { errorsOfCode } from '../tools/coded-error.ts';
import { escapePath, unescapePath } from './escape-path.ts';

type SwhidType = 'snp' | 'rel' | 'rev' | 'dir' | 'cnt';

export type CoreSwhid = {
  readonly type: SwhidType;
  /** 40 lower-case hex digits. */
  readonly id: string;
};

/** Context of an object: its origin, visit, anchor, path, and lines or bytes. */
type Qualifiers = {
  readonly origin?: string;
  readonly visit?: CoreSwhid;
  readonly anchor?: CoreSwhid;
  /** Latin1 string of the raw bytes, absolute. */
  readonly path?: string;
  readonly lines?: Range;
  /** Counted from 0. */
  readonly bytes?: Range;
};

/** A range that includes its last number. */
type Range = { readonly first: number; readonly last?: number };

export type Swhid = CoreSwhid & { readonly qualifiers: Qualifiers };

export class InvalidSwhid extends errorsOfCode('INVALID_SWHID') {}

export function formatSwhid({ type, id }: CoreSwhid): string {
  return `swh:1:${type}:${id}`;
}

/** Formats the core identifier, then the qualifiers in their canonical order. */
export function formatQualifiedSwhid({ qualifiers, ...core }: Swhid): string {
  const { origin, visit, anchor, path, lines, bytes } = qualifiers;
  return [
    formatSwhid(core),
    ...(origin === undefined ? [] : [`origin=${escapeOrigin(origin)}`]),
    ...(visit === undefined ? [] : [`visit=${formatSwhid(visit)}`]),
    ...(anchor === undefined ? [] : [`anchor=${formatSwhid(anchor)}`]),
    ...(path === undefined ? [] : [`path=${escapePath(path)}`]),
    ...(lines === undefined ? [] : [`lines=${formatRange(lines)}`]),
    ...(bytes === undefined ? [] : [`bytes=${formatRange(bytes)}`]),
  ].join(';');
}

/**
 * Returns the path of an object as trees have it, without slashes at its ends. The lookbehind keeps this linear for many
 * slashes in the middle.
 */
export function pathInTree({ path }: Qualifiers): string | undefined {
  return path?.replace(/^\/+|(?<!\/)\/+$/g, '');
}

/** @throws {InvalidSwhid} */
export function parseSwhid(text: string): CoreSwhid {
  const [, type, id] = /^swh:1:(snp|rel|rev|dir|cnt):([0-9a-f]{40})$/.exec(text) ?? [];
  if (type === undefined || id === undefined) throw invalid(text, 'is not a core identifier');
  return { type: type as SwhidType, id };
}

/**
 * Parses a SWHID with qualifiers in any order, each at most once.
 * @throws {InvalidSwhid}
 */
export function parseQualifiedSwhid(text: string): Swhid {
  const [core = '', ...pairs] = text.split(';');
  const qualifiers: { -readonly [K in keyof Qualifiers]: Qualifiers[K] } = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, at);
    if (at < 1 || !isQualifier(key)) throw invalid(text, `has the unknown qualifier “${pair}”`);
    if (qualifiers[key] !== undefined) throw invalid(text, `has the qualifier ${key} twice`);
    Object.assign(qualifiers, { [key]: qualifierParsers[key](pair.slice(at + 1), text) });
  }
  return { ...parseSwhid(core), qualifiers };
}

/**
 * Parses a SWHID that refers to an object. Its qualifiers must also be consistent with each other.
 * @throws {InvalidSwhid}
 */
export function parseReference(text: string): Swhid {
  const swhid = parseQualifiedSwhid(text);
  const wrong = contradictionIn(swhid);
  if (wrong !== undefined) throw new InvalidSwhid(`“${text}” ${wrong}.`);
  return swhid;
}

function contradictionIn({ type, qualifiers }: Swhid): string | undefined {
  const { visit, anchor, path, lines, bytes } = qualifiers;
  if (visit && anchor?.type === 'snp')
    return 'has a snapshot as anchor and a visit, which is a snapshot already';
  if (path !== undefined && type !== 'cnt' && type !== 'dir') {
    return `has a path, which only a content or a directory can have, not the type ${type}`;
  }
  if (lines && type !== 'cnt') return `has lines, which only a content can have, not the type ${type}`;
  if (bytes && type !== 'cnt') return `has bytes, which only a content can have, not the type ${type}`;
  if (lines?.last !== undefined && lines.last < lines.first) return 'has lines that end before they begin';
  if (bytes?.last !== undefined && bytes.last < bytes.first) return 'has bytes that end before they begin';
  return undefined;
}

// The percent sign first: otherwise those of the escaped semicolons would be escaped again.
function escapeOrigin(origin: string): string {
  return origin.replaceAll('%', '%25').replaceAll(';', '%3B');
}

function unescapeOrigin(escaped: string): string {
  return escaped.replace(/%3B/gi, ';').replaceAll('%25', '%');
}

export function formatRange({ first, last }: Range): string {
  return last === undefined ? String(first) : `${first}-${last}`;
}

type QualifierParsers = {
  [K in keyof Required<Qualifiers>]: (value: string, whole: string) => Required<Qualifiers>[K];
};

const qualifierParsers: QualifierParsers = {
  origin: (value, whole) => {
    if (value === '' || /[\s\p{Cc}]/u.test(value)) throw invalid(whole, 'has an origin that is not an IRI');
    return unescapeOrigin(value);
  },
  visit: (value, whole) => parseCoreOf(value, ['snp'], 'visit', whole),
  anchor: (value, whole) => parseCoreOf(value, ['dir', 'rev', 'rel', 'snp'], 'anchor', whole),
  path: (value, whole) => {
    if (!/^\/(?:[\x21-$&-~]|%[0-9A-Fa-f]{2})*$/.test(value)) throw invalid(whole, 'has a malformed path');
    return unescapePath(value);
  },
  lines: (value, whole) => {
    if (!/^[1-9][0-9]*(?:-[1-9][0-9]*)?$/.test(value)) throw invalid(whole, 'has malformed lines');
    return rangeOf(value, 'lines', whole);
  },
  bytes: (value, whole) => {
    if (!/^[0-9]+(?:-[0-9]+)?$/.test(value)) throw invalid(whole, 'has malformed bytes');
    return rangeOf(value, 'bytes', whole);
  },
};

function rangeOf(value: string, key: string, whole: string): Range {
  const [first = 0, last] = value.split('-').map(Number);
  // Larger numbers would be rounded, and formatted with an exponent from 1e21 on.
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last ?? 0))
    throw invalid(whole, `has ${key} above ${Number.MAX_SAFE_INTEGER}`);
  return { first, ...(last !== undefined && { last }) };
}

function isQualifier(key: string): key is keyof Qualifiers {
  return Object.hasOwn(qualifierParsers, key);
}

function parseCoreOf(value: string, types: readonly SwhidType[], key: string, whole: string): CoreSwhid {
  const core = parseSwhid(value);
  if (!types.includes(core.type)) throw invalid(whole, `has a ${key} of the type ${core.type}`);
  return core;
}

function invalid(text: string, what: string): InvalidSwhid {
  return new InvalidSwhid(`“${text}” ${what}.`);
}
