import { badRequest, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

export type ContentDisposition = {
  /** File name without directories; printable, at most 255 bytes of UTF-8. `null` when the header names no file. */
  readonly filename: string | null;
  /** Name of a form field; `atom` marks an entry. */
  readonly name: string | null;
};

/**
 * Parses the header as clients send it, more leniently than RFC 6266. The disposition type may be missing, and the file
 * name may be unquoted, with spaces and directories. Outside ASCII, `filename*` (RFC 8187) names a file; `filename` does
 * only in a form, whose parts have UTF-8 (RFC 7578).
 * @throws {SwordError} 400: the name is not printable, not ASCII where it must be, empty or too long.
 */
export function parseContentDisposition(
  raw: RawHeader,
  origin: 'request' | 'part' = 'request',
): ContentDisposition {
  const parameters = parametersOf(headerText(raw) ?? '');
  const [plain, extended] = [parameters.get('filename'), parameters.get('filename*')];
  // Clients send both for servers that read ASCII only (RFC 6266, 4.3).
  const filename = extended === undefined ? plain && plainName(plain, origin) : decodeExtValue(extended);
  if (extended !== undefined && plain !== undefined) baseName(plainName(plain, origin));
  return {
    filename: filename === undefined ? null : baseName(filename),
    name: parameters.get('name') ?? null,
  };
}

/** Returns the header that gives a file this name: for clients that read ASCII only, and in UTF-8 if it is not ASCII. */
export function attachment(filename: string): string {
  const ascii = filename.replaceAll(/[^\x20-\x7e]+/g, '_').replaceAll(/["\\]/g, '\\$&');
  const plain = `attachment; filename="${ascii}"`;
  return isAscii(filename) ? plain : `${plain}; filename*=UTF-8''${encodeExtValue(filename)}`;
}

/**
 * Returns the file name of an upload.
 * @param part how the error names the part of a form that has the header
 * @throws {SwordError} 400: the header names no file.
 */
export function requireFilename(raw: RawHeader, part?: string): string {
  const { filename } = parseContentDisposition(raw, part === undefined ? 'request' : 'part');
  if (filename !== null) return filename;
  throw badRequest(
    part === undefined
      ? 'The upload has no file name: send Content-Disposition: attachment; filename=<filename>.'
      : `${part} has no file name: send one in its Content-Disposition, or leave the part out.`,
  );
}

/** Pattern of a parameter, at the beginning or after `;`: name, then a quoted value or text up to the next `;`. */
const PARAMETER = /[\s;]*([^=;"\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"\s*|([^";\s][^;]*)?)(?:;|$)/y;
const DISPOSITION_TYPE = /^\s*[^=;"]*(?:;|$)/;

function parametersOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  let position = DISPOSITION_TYPE.exec(header)?.[0].length ?? 0;
  while (/[^\s;]/.test(header.slice(position))) {
    PARAMETER.lastIndex = position;
    const found = PARAMETER.exec(header);
    const [, key = '', quotedValue, plainValue = ''] = found ?? [];
    if (!found) throw badRequest(`Content-Disposition is malformed at ${quoted(header.slice(position))}.`);
    const name = key.toLowerCase();
    if (parameters.has(name))
      throw badRequest(`Content-Disposition has the parameter ${quoted(name)} twice.`);
    parameters.set(name, quotedValue === undefined ? plainValue.trim() : unescapeQuoted(quotedValue));
    position = PARAMETER.lastIndex;
  }
  return parameters;
}

/** Replaces the escapes `\"` and `\\` only: a single backslash elsewhere is a Windows path, as browsers send it. */
function unescapeQuoted(value: string): string {
  return value.replace(/\\(["\\])/g, '$1');
}

/** Decodes an extended value (RFC 8187), such as `UTF-8''name%20of.zip`. */
function decodeExtValue(value: string): string {
  const [, charset = '', encoded] =
    /^(utf-8|iso-8859-1|us-ascii)'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i.exec(value) ?? [];
  const bytes = encoded?.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const text = bytes === undefined ? undefined : decoded(bytes, charset.toLowerCase());
  if (text === undefined)
    throw badRequest(`Content-Disposition has a malformed filename*: ${quoted(value)}.`);
  return text;
}

/** Decodes the latin1 text of bytes; returns `undefined` if the charset has not all of them. */
function decoded(bytes: string, charset: string): string | undefined {
  if (charset === 'utf-8') return decodeUtf8(bytes);
  return charset === 'us-ascii' && /[\x80-\xff]/.test(bytes) ? undefined : bytes;
}

/** Encodes text as the value of an extended parameter: all but its `attr-char` (RFC 8187) in percent encoding. */
function encodeExtValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function plainName(value: string, origin: 'request' | 'part'): string {
  if (isAscii(value)) return value;
  const text = origin === 'part' ? decodeUtf8(value) : undefined;
  if (text !== undefined) return text;
  throw badRequest(
    origin === 'part'
      ? 'The file name of a part must be UTF-8 text.'
      : 'The file name in Content-Disposition must be printable ASCII text: send another one as filename*.',
    {
      verboseDescription: `Received ${quoted(value.replace(/[^\x20-\x7e]/g, '?'))}, with ? for what is not ASCII.`,
    },
  );
}

/** Decodes UTF-8 from the latin1 text of a header; returns `undefined` for other bytes. */
function decodeUtf8(latin1: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}

const MAX_BYTES = 255;

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/**
 * Returns the file name without directories.
 * @param source the header that has the path, for the error
 * @throws {SwordError} 400: the name is not printable, empty or too long.
 */
export function baseName(path: string, source = 'Content-Disposition'): string {
  // Controls, bidirectional and other invisible format characters, surrogates, line and paragraph separators. Joiners
  // are part of words and emoji, but not after ASCII.
  if (/(?!(?<=[^ -~])\p{Join_Control})[\p{C}\p{Zl}\p{Zp}]/u.test(path)) {
    throw badRequest(`The file name in ${source} must be printable text.`, {
      verboseDescription: `Received ${quoted(path.replace(/[^\x20-\x7e]/g, '?'))}, with ? for what is not ASCII.`,
    });
  }
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).trim();
  if (name === '' || name === '.' || name === '..') {
    throw badRequest(`${source} names no file: ${quoted(path)}.`);
  }
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_BYTES) {
    throw badRequest(`The file name is ${bytes} bytes long; at most ${MAX_BYTES} are allowed.`);
  }
  return name;
}
