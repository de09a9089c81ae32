import { quoted, SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** A parsed media type. `type` is `type/subtype` in lower case; parameter names are lower case, values verbatim. */
export type MediaType = { readonly type: string; readonly parameters: ReadonlyMap<string, string> };

/** Parses the `Content-Type` of `what`. @throws {SwordError} 415: it is missing or malformed. */
export function parseMediaType(raw: RawHeader, what = 'The body of the request'): MediaType {
  const text = headerText(raw) ?? '';
  if (text === '') throw new SwordError('ErrorContent', `${what} has no Content-Type: send its media type.`);
  const [, type, rest = ''] = /^([^\s/;,"]+\/[^\s/;,"]+)\s*(?:;(.*))?$/.exec(text) ?? [];
  if (!type) throw new SwordError('ErrorContent', `Content-Type ${quoted(text)} is not a media type.`);
  return { type: type.toLowerCase(), parameters: parametersOf(rest) };
}

/** Parses the parameters leniently: malformed ones are ignored. */
function parametersOf(text: string): Map<string, string> {
  const pairs = text.matchAll(/(?:^|;)\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g);
  const parameters = new Map<string, string>();
  for (const [, name = '', quotedValue, token = ''] of pairs) {
    const value = quotedValue === undefined ? token : quotedValue.replace(/\\(.)/g, '$1');
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

export const EVENT_STREAM_TYPE = 'text/event-stream;charset=utf-8';
export const ZIP_TYPE = 'application/zip';
export const TAR_TYPE = 'application/x-tar';

/** Media types of compressed tars, as clients spell them. */
export const COMPRESSED_TAR_TYPES: readonly string[] = [
  'application/gzip',
  'application/x-gzip',
  'application/x-gtar',
  'application/x-compressed-tar',
  'application/x-bzip2',
  'application/x-bzip',
  'application/x-xz',
];

/** Media types that clients send for archives of any format: the bytes decide what they are. */
export const UNSPECIFIC_TYPES: readonly string[] = [
  'application/octet-stream',
  'application/x-zip-compressed',
  'application/x-gtar-compressed',
];

/** Returns whether a collection with this `accept` list takes the type; tars include compressed ones. */
export function isArchiveType(type: string, accept: readonly string[]): boolean {
  if (UNSPECIFIC_TYPES.includes(type)) return accept.length > 0;
  return accept.includes(type) || (COMPRESSED_TAR_TYPES.includes(type) && accept.includes(TAR_TYPE));
}

/** Returns whether the type is that of a metadata entry, which includes plain XML. */
export function isEntryType({ type, parameters }: MediaType): boolean {
  if (type === 'application/xml' || type === 'text/xml') return true;
  return type === 'application/atom+xml' && (parameters.get('type') ?? 'entry').toLowerCase() === 'entry';
}

/** Returns whether the body may have both archive and entry: as a form or as SWORD 2.0 defines. */
export function isMultipart({ type }: MediaType): boolean {
  return type === 'multipart/form-data' || type === 'multipart/related';
}
