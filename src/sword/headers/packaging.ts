import { BINARY, SIMPLE_ZIP } from '../namespaces.ts';
import { quoted, SwordError } from '../sword-error.ts';
import { ZIP_TYPE } from './media-type.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** How archives can come and be had; the one first that is told of them when they come. */
export const PACKAGINGS = [SIMPLE_ZIP, BINARY] as const;

export type Packaging = (typeof PACKAGINGS)[number];

/** That of content of this media type, as the EM-IRI gives it. */
export function packagingOf({ mediaType }: { readonly mediaType: string }): Packaging {
  return mediaType === ZIP_TYPE ? SIMPLE_ZIP : BINARY;
}

/** What the `Packaging` of an upload may be, if it is said. @throws {SwordError} 415 */
export function assertPackaging(raw: RawHeader): void {
  const value = headerText(raw);
  if (value === undefined || PACKAGINGS.some((packaging) => packaging === value)) return;
  throw new SwordError('ErrorContent', `The packaging ${quoted(value)} is not accepted.`, {
    verboseDescription: `Accepted: ${PACKAGINGS.join(', ')}, or no Packaging header.`,
  });
}
