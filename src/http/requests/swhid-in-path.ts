import { formatQualifiedSwhid, InvalidSwhid, parseReference, type Swhid } from '../../swhid/swhid.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';

/**
 * Parses the end of a path as a SWHID: verbatim or percent-encoded as a whole, each with or without a trailing slash.
 * Usually one reading is valid; of several, the first that names an object counts.
 * @throws {SwordError} 400: no reading is valid.
 */
export function swhidsIn(text: string): readonly Swhid[] {
  // If the whole is encoded, its own slashes are too: a trailing one is the path's.
  const texts = [text, withoutSlash(text), ...decoded(withoutSlash(text)), ...decoded(text)];
  const read = texts.flatMap((one) => parsed(one));
  const distinct = new Map(read.map((swhid) => [formatQualifiedSwhid(swhid), swhid]));
  if (distinct.size > 0) return [...distinct.values()];
  throw badRequest(reasonFor(decoded(text)[0] ?? text), {
    verboseDescription: `${quoted(text)} is no SWHID such as swh:1:dir: and 40 lower-case hex digits, with or without qualifiers.`,
  });
}

function parsed(text: string): Swhid[] {
  try {
    return [parseReference(text)];
  } catch (error) {
    if (error instanceof InvalidSwhid) return [];
    throw error;
  }
}

function reasonFor(text: string): string {
  try {
    parseReference(withoutSlash(text));
    return `${quoted(text)} is no SWHID.`;
  } catch (error) {
    return error instanceof InvalidSwhid ? error.message : String(error);
  }
}

function withoutSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Returns the decoded text, or an empty array if the encoding is broken. */
function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
