/** Builds all absolute IRIs, with a trailing slash. The base is configuration, never the Host of a request. */
export class Iris {
  readonly base: string;

  constructor(baseUrl: string) {
    this.base = normalizeBaseUrl(baseUrl);
  }

  /** Description of every operation. */
  readonly openApi = (): string => `${this.base}/openapi.json`;
  /** SD-IRI */
  readonly serviceDocument = (): string => this.#at('servicedocument');
  /** The service document of one collection. */
  readonly collectionService = (name: string): string => this.#at('servicedocument', name);
  /** COL-IRI; a query selects some of its deposits. */
  readonly collection = (name: string, query: Readonly<Record<string, string>> = {}): string => {
    const search = new URLSearchParams(query).toString();
    return `${this.#at(name)}${search && `?${search}`}`;
  };
  /** Default origin of a deposit; it is no resource. */
  readonly deposit = (collection: string, id: number): string => this.#at(collection, id);
  /** Collection of resumable uploads. */
  readonly uploads = (collection: string): string => this.#at(collection, 'uploads');
  readonly upload = (collection: string, id: string): string => this.#at(collection, 'uploads', id);
  /** Edit-IRI and SE-IRI */
  readonly edit = (collection: string, id: number): string => this.#at(collection, id, 'metadata');
  /** EM-IRI */
  readonly media = (collection: string, id: number): string => this.#at(collection, id, 'media');
  /** The archives as a feed, whatever a client accepts. */
  readonly mediaFeed = (collection: string, id: number): string => this.#at(collection, id, 'media', 'feed');
  /** File-IRI: one archive, by its number within the deposit. */
  readonly file = (collection: string, id: number, number: number): string =>
    this.#at(collection, id, 'media', number);
  /** State-IRI */
  readonly status = (collection: string, id: number): string => this.#at(collection, id, 'status');
  /** CONT-FILE-IRI */
  readonly content = (collection: string, id: number): string => this.#at(collection, id, 'content');
  /** SWORD Statement, in each of its formats. */
  readonly statement = (collection: string, id: number): string => this.#at(collection, id, 'statement');
  /** The Statement as a resource map, whatever a client accepts. */
  readonly statementRdf = (collection: string, id: number): string =>
    this.#at(collection, id, 'statement', 'rdf');
  /** Events of a deposit, from the event number `from`. */
  readonly history = (collection: string, id: number, from = 0): string =>
    `${this.#at(collection, id, 'history')}${from > 0 ? `?from=${from}` : ''}`;
  /** Stream of its status changes. */
  readonly events = (collection: string, id: number): string => this.#at(collection, id, 'events');
  /** Object of a SWHID, with or without qualifiers. `below` limits the list of deposits to smaller ids. */
  readonly object = (swhid: string, below?: number): string => {
    const segment = swhid.includes(';') ? encodeURIComponent(swhid) : swhid;
    return `${this.base}/1/resolve/${segment}/${below === undefined ? '' : `?below=${below}`}`;
  };

  #at(...segments: readonly (string | number)[]): string {
    return `${this.base}/1/${segments.map(encodeURIComponent).join('/')}/`;
  }
}

function normalizeBaseUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`"${baseUrl}" is not a base URL: write http or https, a host, and perhaps a path.`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
