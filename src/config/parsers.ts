import path from 'node:path';
import { files } from '../tools/files.ts';
import type { EventLogConfig, Role } from './config.ts';
import { parseS3Url, type S3Place } from './s3-url.ts';

/** Parsers of settings. The error says what the value must be. */

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new Error(
      `must be a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`,
    );
  };
}

export function boolean(text: string): boolean {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  throw new Error('must be true or false');
}

export function optionalBoolean(text: string): boolean | null {
  return text === '' ? null : boolean(text);
}

export function oneOf(...words: readonly string[]): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    throw new Error(`must be one of ${words.join(', ')}`);
  };
}

/** SQLite opens no file with a longer path. */
const MAX_DATABASE_PATH_BYTES = 504;
const MAX_DATA_DIR_BYTES = MAX_DATABASE_PATH_BYTES - '/views/snapshot/views.sqlite'.length; // the longest in the folder

/** Parses a folder that will contain databases. */
export function dataFolder(text: string): string {
  const folder = path.resolve(text);
  const bytes = Buffer.byteLength(folder);
  if (bytes <= MAX_DATA_DIR_BYTES) return folder;
  throw new Error(
    `must be a path of at most ${MAX_DATA_DIR_BYTES} bytes, not ${bytes}: SQLite opens no file with more than ${MAX_DATABASE_PATH_BYTES}`,
  );
}

/** Parses `http`, `reactors` or both. */
export function roles(text: string): readonly Role[] {
  const named = new Set(text.split(',').map((word) => word.trim()));
  const known = (['http', 'reactors'] as const).filter((role) => named.has(role));
  if (known.length > 0 && known.length === named.size) return known;
  throw new Error('must be http, reactors, or http,reactors');
}

/** Parses an absolute http or https URL. */
export function url(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new Error('must be an absolute http or https URL');
}

/** Parses the base URL and removes trailing slashes, so that paths can be appended. */
export function baseUrl(text: string): string | null {
  if (text === '') return null;
  const { origin, pathname, username, password, search, hash } = new URL(url(text));
  if (!username && !password && !search && !hash) return origin + pathname.replace(/\/+$/, '');
  throw new Error('must be http or https, a host, and perhaps a path, without credentials, ? and #');
}

export function identity(text: string): string {
  if (/^[^<>\n\0]+ <[^<>\n\0]*>$/.test(text)) return text;
  throw new Error('must have the form Name <mail@host>');
}

/** Parses the name of a person, shown in a line of output. */
export function optionalName(text: string): string | null {
  if (text.length <= 100 && !/\p{C}/u.test(text)) return text === '' ? null : text;
  throw new Error('must be a name of 100 characters at most, none of them a control character');
}

/** Returns the content of a file without its line break; an empty text for no file. */
export function secretIn(file: string): string {
  if (file === '') return '';
  const secret = contentOf(file).trim();
  if (secret === '') throw new Error('the file is empty'); // otherwise the default would silently apply
  return secret;
}

function contentOf(file: string): string {
  try {
    return files.readFileSync(file, 'utf8');
  } catch (error) {
    // The error does not name the file, since what was given may be the secret itself.
    throw Object.assign(error as Error, { path: 'the file' });
  }
}

export function eventLog(text: string): EventLogConfig | null {
  if (text === '') return null;
  if (/^(esdb|kurrentdb)(\+discover)?:\/\/./.test(text)) {
    // The client knows only the older name of the scheme.
    return { kind: 'eventstoredb', connectionString: text.replace(/^kurrentdb/, 'esdb') };
  }
  if (/^sqlite:./.test(text)) return { kind: 'sqlite', file: path.resolve(text.slice('sqlite:'.length)) };
  throw new Error('must be sqlite:<file>, or esdb:// or kurrentdb://<host>:<port>?tls=<true|false>');
}

export function archiveStore(
  text: string,
): { kind: 'file'; folder: string } | ({ kind: 's3' } & S3Place) | null {
  if (text === '') return null;
  if (/^file:./.test(text)) return { kind: 'file', folder: path.resolve(text.slice('file:'.length)) };
  if (text.startsWith('s3:')) return { kind: 's3', ...parseS3Url(text) };
  throw new Error('must be file:<folder> or s3://<host>:<port>/<bucket>?tls=<true|false>&region=<region>');
}

/** Returns the absolute path of a file that need not exist yet. */
export function optionalFile(file: string): string | null {
  return file === '' ? null : path.resolve(file);
}

/** Returns the path of a readable file; an empty text for no file. */
export function readableFile(file: string): string {
  if (file !== '') files.accessSync(file, files.constants.R_OK);
  return file;
}
