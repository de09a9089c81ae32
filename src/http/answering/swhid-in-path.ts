import { parseReference } from '../../swhid/reference.ts';
import { formatQualifiedSwhid, InvalidSwhid, type Swhid } from '../../swhid/swhid.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';

/**
 * The ways to read the end of a path as a SWHID: as it stands, or percent-encoded as a whole, each also without a
 * slash at its end. Usually there is one; of several, the first that names anything is meant.
 * @throws {SwordError} 400 when there is none
 */
export function swhidsIn(text: string): readonly Swhid[] {
  // Where the whole is encoded, so are its own slashes: one at the end is the path's.
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

/** None when the encoding is broken. */
function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
