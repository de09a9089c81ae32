import { ATOM, child, DEPOSIT, type Parsed, parsedBody, texts } from './parsed-body.ts';

/** A page of a collection as the Python client of the best-known service reads it: these names, and no others. */
export type ReadList = {
  readonly count: string;
  readonly deposits: readonly Readonly<Record<string, string>>[];
  /** Targets of the `Link` header by their `rel`. */
  readonly links: Readonly<Record<string, string>>;
};

const KEYS = [
  'id',
  'reception_date',
  'complete_date',
  'external_id',
  'swhid',
  'status',
  'status_detail',
  'swhid_context',
  'origin_url',
];

export async function readList(answer: Response): Promise<ReadList> {
  const feed = parsedBody(await answer.text());
  return {
    count: child(feed, `${DEPOSIT}count`).text.trim(),
    deposits: entriesOf(feed).map(readEntry),
    links: linksOf(answer.headers.get('link') ?? ''),
  };
}

export function entriesOf(feed: Parsed): Parsed[] {
  return feed.children.filter(({ name }) => name === `${ATOM}entry`);
}

function readEntry(entry: Parsed): Record<string, string> {
  const found = KEYS.flatMap((key) => texts(entry, `${DEPOSIT}${key}`).map((text) => [key, text] as const));
  return Object.fromEntries(found);
}

/** Parses the header as `requests.utils.parse_header_links` does. */
function linksOf(header: string): Record<string, string> {
  const links = header.split(/, *</).map((link) => /^<?([^>]*)>; rel="(\w+)"$/.exec(link));
  return Object.fromEntries(links.flatMap((link) => (link ? [[link[2], link[1]]] : [])));
}
