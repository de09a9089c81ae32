/**
 * Returns the absolute URL in a text, or `undefined` if it is not one, or if people and programs would read it
 * differently.
 */
export function entryUrl(text: string): URL | undefined {
  if (text.length > MAX_URL || !ABSOLUTE.test(text) || hostIn(text).split(DOTS).some(isTooLong))
    return undefined;
  return URL.parse(text) ?? undefined;
}

/** Maximum characters of a URL. Longer ones take long to parse, and no program follows them. */
const MAX_URL = 16_384;
/** Pattern without inner white space and backslashes, which parsers interpret differently. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^\s\\]+$/i;
const DOTS = /[.\u3002\uff0e\uff61]/;
/** Maximum characters between two dots, including a port. */
const MAX_LABEL = 70;

function hostIn(url: string): string {
  const [, authority = ''] = /^[^:]*:\/+([^/?#]*)/.exec(url) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/**
 * Returns whether an internationalized label is too long: DNS has no such name, and its conversion to ASCII takes
 * quadratic time.
 */
function isTooLong(label: string): boolean {
  return /[^\0-\x7f]|%/.test(label) && label.replaceAll(/%../g, '%').length > MAX_LABEL;
}
