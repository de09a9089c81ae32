import { BINARY, SIMPLE_ZIP } from './namespaces.ts';
import { headerText, type RawHeader } from './raw-header.ts';
import { quoted, SwordError } from './sword-error.ts';

const ACCEPTED = [SIMPLE_ZIP, BINARY];

/** The packaging IRI of an upload; without the header an archive is what the interface calls a SimpleZip. */
export function parsePackaging(raw: RawHeader): string {
  const value = headerText(raw) ?? SIMPLE_ZIP;
  if (ACCEPTED.includes(value)) return value;
  throw new SwordError('ErrorContent', `The packaging ${quoted(value)} is not accepted.`, {
    verboseDescription: `Accepted: ${ACCEPTED.join(', ')}, or no Packaging header.`,
  });
}
