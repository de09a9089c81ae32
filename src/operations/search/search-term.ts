import type { DepositLoaded } from '../../domain/deposit/events.ts';
import type { Json, RecordedEvent } from '../../event-log/event-log.ts';
import {
  type CoreSwhid,
  formatSwhid,
  InvalidSwhid,
  parseQualifiedSwhid,
  type Swhid,
} from '../../swhid/swhid.ts';
import { UUID } from '../../tools/random.ts';
import { wholeNumber } from '../command/arguments.ts';
import { UsageError } from '../command/command.ts';

/** A SWHID to search for, or a text that an event contains as a whole value. */
export type SearchTerm =
  | { readonly kind: 'swhid'; readonly swhid: Swhid }
  /** A digest, a UUID or the URL of an origin. */
  | { readonly kind: 'value'; readonly value: string };

const DIGEST = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Parses a search term: a SWHID, a digest, a UUID or the URL of an origin.
 * @param others what else the command accepts, for the error.
 * @throws {UsageError}
 */
export function termIn(text: string, others: readonly string[] = []): SearchTerm {
  if (text.startsWith('swh:')) return { kind: 'swhid', swhid: swhidIn(text) };
  const lower = text.toLowerCase();
  if (DIGEST.test(lower) || UUID.test(lower)) return { kind: 'value', value: lower };
  if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text)) return { kind: 'value', value: text };
  const shown = text.trim() === '' ? `"${text}"` : text;
  const forms = [...others, 'a SWHID', 'a digest in hex', 'a UUID'].join(', ');
  const advice =
    wholeNumber(text) === undefined ? '' : ` "deposit-service history ${text}" shows deposit ${text}.`;
  throw new UsageError(`${shown} is neither ${forms} nor the URL of an origin.${advice}`);
}

function swhidIn(text: string): Swhid {
  try {
    return parseQualifiedSwhid(text);
  } catch (error) {
    throw error instanceof InvalidSwhid ? new UsageError(error.message) : error;
  }
}

/**
 * Returns the names of the fields of an event that have the value of the term, such as `archive.sha256`. A SWHID is
 * found by the identifier that it names, which must agree with its origin, visit and anchor.
 */
export function matchingFields(event: RecordedEvent, term: SearchTerm): string[] {
  const { id, data, metadata } = event;
  if (term.kind === 'value') return fieldsWith({ id, ...data, metadata }, (text) => text === term.value);
  const { swhid } = term;
  const core = formatSwhid(swhid);
  const isNamed = (text: string) => text === swhid.id || text === core || text.startsWith(`${core};`);
  return fieldsWith(data, isNamed).filter(() => agrees(event, swhid));
}

/** Whether only the manifest of a loaded deposit can say that it contains the object. */
export function maybeInside(event: RecordedEvent, term: SearchTerm): boolean {
  if (term.kind !== 'swhid' || event.type !== 'DepositLoaded') return false;
  return (term.swhid.type === 'cnt' || term.swhid.type === 'dir') && agrees(event, term.swhid);
}

/** Whether the event of a loaded deposit has the origin, visit and anchor of the SWHID; other events have none. */
function agrees({ type, data }: RecordedEvent, { qualifiers: { origin, visit, anchor } }: Swhid): boolean {
  if (type !== 'DepositLoaded') return true;
  const loaded = data as DepositLoaded['data'];
  return (
    (origin === undefined || origin === loaded.origin) &&
    (visit === undefined || visit.id === loaded.snapshot) &&
    (anchor === undefined || anchor.id === loadedIdOf(loaded, anchor))
  );
}

function loadedIdOf(loaded: DepositLoaded['data'], { type }: CoreSwhid): string | undefined {
  if (type === 'dir') return loaded.directory;
  if (type === 'rev') return loaded.revision;
  return type === 'snp' ? loaded.snapshot : undefined;
}

function fieldsWith(value: Json | undefined, fits: (text: string) => boolean, name = ''): string[] {
  if (typeof value === 'string') return fits(value) ? [name] : [];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (Array.isArray(value)) return fieldsWith(inner, fits, name);
    return fieldsWith(inner, fits, name === '' ? key : `${name}.${key}`);
  });
}
