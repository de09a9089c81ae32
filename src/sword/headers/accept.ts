import { headerText, type RawHeader } from './raw-header.ts';

export type Representation<Format extends string = 'xml' | 'json' | 'html'> = {
  readonly contentType: string;
  readonly format: Format;
  /** True if it is chosen only when the client prefers it to all others. */
  readonly isOnlyPreferred?: boolean;
};

/** Representations in order of the service's preference; the first is also for clients that accept none. */
export type Offers<Format extends string = 'xml' | 'json' | 'html'> = readonly [
  Representation<Format>,
  ...(readonly Representation<Format>[]),
];

/** The page for people: where a browser asks, which prefers HTML to every type of XML and JSON. */
export const PAGE = { contentType: 'text/html', format: 'html', isOnlyPreferred: true } as const;

/** Representations of most documents. */
export const DOCUMENT_OFFERS: Offers = [
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/atom+xml', format: 'xml' },
  { contentType: 'application/atom+xml;type=entry', format: 'xml' },
  { contentType: 'application/atomsvc+xml', format: 'xml' },
  { contentType: 'application/json', format: 'json' },
  PAGE,
];

/** Representations of facts that no program reads as XML. */
export const FACTS_OFFERS: Offers<'json' | 'html'> = [
  { contentType: 'application/json', format: 'json' },
  PAGE,
];

/** Media type of a feed, as opposed to an entry. */
export const FEED_TYPE = 'application/atom+xml;type=feed';

/** Chooses the representation by q-value, then specificity, then order in the header; never 406, but the first. */
export function negotiate<Format extends string>(
  offers: Offers<Format>,
  accept: RawHeader,
): Representation<Format> {
  const ranges = rangesIn(accept);
  const candidates = offers.flatMap((offer) => {
    const range = mostExactFor(offer.contentType, ranges);
    return range && range.quality > 0 ? [{ offer, range }] : [];
  });
  const [best, ...others] = candidates.sort((a, b) => compare(a.range, b.range));
  if (!best?.offer.isOnlyPreferred) return best?.offer ?? offers[0];
  const { quality } = best.range;
  const equal = others.find(({ range }) => range.quality === quality);
  if (equal) return equal.offer;
  return ranges.some((range) => range.quality >= quality && isForPrograms(range)) ? offers[0] : best.offer;
}

/** Returns whether a range is a type of XML or JSON, offered here or not; browsers name XHTML together with HTML. */
function isForPrograms({ type }: Range): boolean {
  return /^(?:application|text)\/(?:.*\+)?(?:xml|json)$/.test(type) && type !== 'application/xhtml+xml';
}

/** Returns whether an `Accept` header includes the type, possibly by a wildcard; an absent header includes none. */
export function accepts(accept: RawHeader, contentType: string): boolean {
  const range = mostExactFor(contentType, rangesIn(accept));
  return range !== undefined && range.quality > 0;
}

/** Ranges of an `Accept` header, and parameters of each, beyond which the rest is ignored. */
const MAX_RANGES = 50;
const MAX_PARAMETERS = 10;

type Range = {
  readonly type: string;
  /** The only parameter that distinguishes the offers. */
  readonly atomType: string | undefined;
  readonly quality: number;
  readonly exactness: number;
  readonly place: number;
};

/** Beginning of what Java's HttpURLConnection sends unless its program sets the header: no browser asks. */
const JAVA_DEFAULT = 'text/html, image/gif, image/jpeg, ';

function rangesIn(accept: RawHeader): Range[] {
  const text = headerText(accept) ?? '';
  return (text.startsWith(JAVA_DEFAULT) ? '*/*' : text).split(',', MAX_RANGES).map(parseRange);
}

function parseRange(text: string, place: number): Range {
  const parts = text.split(';', 1 + MAX_PARAMETERS).map((part) => part.trim().toLowerCase());
  const [type = '', ...parameters] = parts;
  const values = new Map(parameters.map(parsePair));
  const atomType = values.get('type');
  const wild = type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2;
  return { type, atomType, quality: qualityOf(values.get('q')), exactness: wild + (atomType ? 1 : 0), place };
}

function parsePair(parameter: string): [string, string] {
  const [name = '', ...value] = parameter.split('=');
  return [name.trim(), value.join('=').trim().replaceAll('"', '')];
}

/** Returns the weight; a malformed one is ignored. */
function qualityOf(text: string | undefined): number {
  const quality = text === undefined || text === '' ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 1;
}

function mostExactFor(contentType: string, ranges: readonly Range[]): Range | undefined {
  const matching = ranges.filter((range) => matches(range, contentType));
  return matching.sort((a, b) => b.exactness - a.exactness || a.place - b.place)[0];
}

function matches({ type, atomType }: Range, contentType: string): boolean {
  const [offered = '', parameter] = contentType.split(';type=');
  if (atomType !== undefined && atomType !== parameter) return false;
  return type === '*/*' || type === offered || (type.endsWith('/*') && offered.startsWith(type.slice(0, -1)));
}

function compare(a: Range, b: Range): number {
  return b.quality - a.quality || b.exactness - a.exactness || a.place - b.place;
}
