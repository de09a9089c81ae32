import { quoted, SwordError } from '../sword-error.ts';
import { PACKAGINGS, type Packaging } from './packaging.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Returns the preferred packaging by q-value; `null` when any is accepted. @throws {SwordError} 406 */
export function parseAcceptPackaging(raw: RawHeader): Packaging | null {
  const text = headerText(raw) ?? '';
  if (text === '') return null;
  const wanted = text
    .split(',')
    .map(parseWeighted)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  const found = wanted
    .map(({ iri }) => PACKAGINGS.find((packaging) => packaging === iri))
    .find((packaging) => packaging !== undefined);
  if (found) return found;
  throw new SwordError('NotAcceptable', `The content is not available in the packaging ${quoted(text)}.`, {
    verboseDescription: `Possible: ${PACKAGINGS.join(', ')}, or no Accept-Packaging header.`,
  });
}

/** Parses one element of the list; a malformed weight is ignored. */
function parseWeighted(text: string): { readonly iri: string; readonly quality: number } {
  const [iri = '', ...parameters] = text.split(';').map((part) => part.trim());
  const [, weight] = parameters.map((one) => /^q\s*=\s*([\d.]+)$/i.exec(one)).find((one) => one) ?? [];
  const quality = Number(weight ?? 1);
  return { iri, quality: quality >= 0 && quality <= 1 ? quality : 1 };
}
