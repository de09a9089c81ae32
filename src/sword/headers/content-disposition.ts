import { badRequest, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

export type ContentDisposition = {
  /** File name without directories; printable ASCII, at most 255 characters. `null` when the header names no file. */
  readonly filename: string | null;
  /** Name of a form field; `atom` marks an entry. */
  readonly name: string | null;
};

/**
 * Parses the header as clients send it, more leniently than RFC 6266. The disposition type may be missing, and the file
 * name may be unquoted, with spaces and directories.
 * @throws {SwordError} 400: the name is not ASCII, has control bytes or is empty.
 */
export function parseContentDisposition(raw: RawHeader): ContentDisposition {
  const parameters = parametersOf(headerText(raw) ?? '');
  const [plain, extended] = [parameters.get('filename'), parameters.get('filename*')];
  const decoded = extended === undefined ? undefined : decodeExtValue(extended);
  // Clients send both for servers that read ASCII only (RFC 6266, 4.3).
  const filename = decoded !== undefined && (isPrintable(decoded) || plain === undefined) ? decoded : plain;
  return {
    filename: filename === undefined ? null : baseName(filename),
    name: parameters.get('name') ?? null,
  };
}

/** Returns the header that gives a file this name. */
export function attachment(filename: string): string {
  return `attachment; filename="${filename.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * Returns the file name of a binary upload.
 * @throws {SwordError} 400: the header names no file.
 */
export function requireFilename(raw: RawHeader): string {
  const { filename } = parseContentDisposition(raw);
  if (filename !== null) return filename;
  throw badRequest('The upload has no file name: send Content-Disposition: attachment; filename=<filename>.');
}

/**
 * Pattern of one parameter, at the beginning or after `;`: its name, then a quoted value or all text up to the next
 * `;`.
 */
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

/**
 * Decodes an extended value (RFC 8187), such as `UTF-8''name%20of.zip`. The character set is irrelevant, since the
 * result must be ASCII.
 */
function decodeExtValue(value: string): string {
  const [, encoded] = /^(?:utf-8|iso-8859-1|us-ascii)'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i.exec(value) ?? [];
  if (encoded === undefined)
    throw badRequest(`Content-Disposition has a malformed filename*: ${quoted(value)}.`);
  return encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const MAX_LENGTH = 255;

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function baseName(path: string): string {
  if (!isPrintable(path)) {
    throw badRequest('The file name in Content-Disposition must be printable ASCII text.', {
      verboseDescription: `Received ${quoted(path.replace(/[^\x20-\x7e]/g, '?'))}, with ? for what is not ASCII.`,
    });
  }
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).trim();
  if (name === '' || name === '.' || name === '..') {
    throw badRequest(`Content-Disposition names no file: ${quoted(path)}.`);
  }
  if (name.length > MAX_LENGTH) {
    throw badRequest(`The file name is ${name.length} characters long; at most ${MAX_LENGTH} are allowed.`);
  }
  return name;
}
