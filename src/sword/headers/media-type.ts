import { quoted, SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** `type` is `type/subtype` in lower case; the names of the parameters are lower case, their values as sent. */
export type MediaType = { readonly type: string; readonly parameters: ReadonlyMap<string, string> };

/** Reads the `Content-Type` of `what`; without one, or with none that makes sense, there is nothing to accept: 415. */
export function parseMediaType(raw: RawHeader, what = 'The body of the request'): MediaType {
  const text = headerText(raw) ?? '';
  if (text === '')
    throw new SwordError('ErrorContent', `${what} has no Content-Type: send the media type of what it is.`);
  const [, type, rest = ''] = /^([^\s/;,"]+\/[^\s/;,"]+)\s*(?:;(.*))?$/.exec(text) ?? [];
  if (!type) throw new SwordError('ErrorContent', `Content-Type ${quoted(text)} is not a media type.`);
  return { type: type.toLowerCase(), parameters: parametersOf(rest) };
}

/** Lenient: what is no parameter does not make a zip less of a zip. */
function parametersOf(text: string): Map<string, string> {
  const pairs = text.matchAll(/(?:^|;)\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g);
  const parameters = new Map<string, string>();
  for (const [, name = '', quotedValue, token = ''] of pairs) {
    const value = quotedValue === undefined ? token : quotedValue.replace(/\\(.)/g, '$1');
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

export const ZIP_TYPE = 'application/zip';
export const TAR_TYPE = 'application/x-tar';

/** Compressed tars, as clients spell them. */
export const COMPRESSED_TAR_TYPES: readonly string[] = [
  'application/gzip',
  'application/x-gzip',
  'application/x-gtar',
  'application/x-compressed-tar',
  'application/x-bzip2',
  'application/x-bzip',
  'application/x-xz',
];

/** Whether a collection with this `accept` list takes archives of the type; compressed tars go with tars. */
export function isArchiveType(type: string, accept: readonly string[]): boolean {
  return accept.includes(type) || (COMPRESSED_TAR_TYPES.includes(type) && accept.includes(TAR_TYPE));
}

/** Of metadata entries, as clients spell them. */
export const ENTRY_TYPES = [
  'application/atom+xml;type=entry',
  'application/atom+xml',
  'application/xml',
  'text/xml',
] as const;

/** Whether the type is that of a metadata entry; plain XML is read as one. */
export function isEntryType({ type, parameters }: MediaType): boolean {
  if (type === 'application/xml' || type === 'text/xml') return true;
  return type === 'application/atom+xml' && (parameters.get('type') ?? 'entry').toLowerCase() === 'entry';
}

/** Whether archive and entry come in one body: as a form, or as SWORD 2.0 has it. */
export function isMultipart({ type }: MediaType): boolean {
  return type === 'multipart/form-data' || type === 'multipart/related';
}
