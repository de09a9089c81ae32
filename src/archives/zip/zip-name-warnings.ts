import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Faults } from '../faults.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { extraField, type ZipEntry } from './zip-directory.ts';
import { zipName } from './zip-name.ts';

const UNICODE_PATH_FIELD = 0x7075;

/** Warns if another reader of zips would use another name for the entry, or omit it. */
export function warnAboutName(
  { rawName, flags }: Pick<ZipEntry, 'rawName' | 'flags'>,
  extra: Buffer,
  warnings: Faults,
): void {
  const name = zipName(rawName, flags);
  if (name === undefined) return;
  if (name !== rawName && isUtf8(Buffer.from(rawName, 'latin1'))) {
    const text = `The member ${shown(rawName)} has a name in UTF-8 that is not marked as UTF-8; it is read in code page 437, as ${shown(name)}.`;
    warnings.add('UNMARKED_UTF8', text);
  }
  const path = unicodePath(extra, rawName);
  if (path !== undefined && path !== name) {
    const text = `The member ${shown(name)} has another name, ${shown(path)}, in its Unicode Path field (0x7075), which is not used.`;
    warnings.add('OTHER_NAME', text);
  }
  if (name.includes('..')) {
    const text = `The name of the member ${shown(name)} holds “..”; it is kept here, but the loader of Software Heritage leaves it out.`;
    warnings.add('DOTS_IN_NAME', text);
  }
  // Programs of Windows may write one into each name.
  if (name.includes('\\') && !warnings.has('BACKSLASH_IN_NAME')) {
    const text = `The archive has names with a backslash, such as ${shown(name)}; they are kept here, but some programs make a folder of what is before it.`;
    warnings.add('BACKSLASH_IN_NAME', text);
  }
}

/** Returns the name in the field, or `undefined` if it is missing, malformed, or made for another name. */
function unicodePath(extra: Buffer, rawName: string): string | undefined {
  const field = extraField(extra, UNICODE_PATH_FIELD);
  if (field === undefined || field === 'truncated' || !isFor(field, rawName)) return undefined;
  return field.toString('latin1', 5);
}

/**
 * Whether the field has version 1 and the CRC of the name in the header. Its specification requires to ignore others.
 */
function isFor(field: Buffer, rawName: string): boolean {
  return (
    field.length >= 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(Buffer.from(rawName, 'latin1'))
  );
}

function shown(name: string): string {
  return `“${sanitizeName(name)}”`;
}
