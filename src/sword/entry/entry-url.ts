/** The absolute URL that a text is, as people and programs read it alike; `undefined` for one that is none. */
export function entryUrl(text: string): URL | undefined {
  if (text.length > MAX_URL || !ABSOLUTE.test(text) || hostIn(text).split(DOTS).some(isTooLong))
    return undefined;
  return URL.parse(text) ?? undefined;
}

/** Characters. To look at longer ones takes long, and no program follows them. */
const MAX_URL = 16_384;
/** Without white space inside and backslashes, which are read now so, now so. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^\s\\]+$/i;
const DOTS = /[.\u3002\uff0e\uff61]/;
/** Characters between two dots, with room for a port. */
const MAX_LABEL = 70;

function hostIn(url: string): string {
  const [, authority = ''] = /^[^:]*:\/+([^/?#]*)/.exec(url) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/** DNS has no such name, and to write it in ASCII takes the square of its length. */
function isTooLong(label: string): boolean {
  return /[^\0-\x7f]|%/.test(label) && label.replaceAll(/%../g, '%').length > MAX_LABEL;
}
