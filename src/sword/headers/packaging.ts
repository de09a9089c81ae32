import { BINARY, SIMPLE_ZIP } from '../namespaces.ts';
import { quoted, SwordError } from '../sword-error.ts';
import { ZIP_TYPE } from './media-type.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Packagings of archives, for upload and download. Clients are offered the first one first. */
export const PACKAGINGS = [SIMPLE_ZIP, BINARY] as const;

export type Packaging = (typeof PACKAGINGS)[number];

/** Returns the packaging of content of this media type at the EM-IRI. */
export function packagingOf({ mediaType }: { readonly mediaType: string }): Packaging {
  return mediaType === ZIP_TYPE ? SIMPLE_ZIP : BINARY;
}

/** Validates the `Packaging` of an upload, if present. @throws {SwordError} 415 */
export function assertPackaging(raw: RawHeader): void {
  const value = headerText(raw);
  if (value === undefined || PACKAGINGS.some((packaging) => packaging === value)) return;
  throw new SwordError('ErrorContent', `The packaging ${quoted(value)} is not accepted.`, {
    verboseDescription: `Accepted: ${PACKAGINGS.join(', ')}, or no Packaging header.`,
  });
}
