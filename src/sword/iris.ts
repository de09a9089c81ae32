/**
 * Where everything is, as absolute IRIs with a trailing slash: `{base_url}` and the paths of the interface.
 * `baseUrl` is configuration, never what a request says its host is.
 */
export class Iris {
  readonly base: string;

  constructor(baseUrl: string) {
    this.base = normalised(baseUrl);
  }

  /** A page for people, from which programs find the rest. */
  landingPage(): string {
    return `${this.base}/`;
  }

  /** What describes every operation. */
  openApi(): string {
    return `${this.base}/openapi.json`;
  }

  /** SD-IRI */
  serviceDocument(): string {
    return this.#at('servicedocument');
  }

  /** The service document of one collection. */
  collectionService(name: string): string {
    return this.#at('servicedocument', name);
  }

  /** COL-IRI; with a query it is part of what is in the collection. */
  collection(name: string, query: Readonly<Record<string, string>> = {}): string {
    const search = new URLSearchParams(query).toString();
    return `${this.#at(name)}${search && `?${search}`}`;
  }

  /** No resource of its own; the origin of a deposit that has no better one. */
  deposit(collection: string, id: number): string {
    return this.#at(collection, id);
  }

  /** Where resumable uploads begin. */
  uploads(collection: string): string {
    return this.#at(collection, 'uploads');
  }

  upload(collection: string, id: string): string {
    return this.#at(collection, 'uploads', id);
  }

  /** Edit-IRI and SE-IRI */
  edit(collection: string, id: number): string {
    return this.#at(collection, id, 'metadata');
  }

  /** EM-IRI */
  media(collection: string, id: number): string {
    return this.#at(collection, id, 'media');
  }

  /** File-IRI: one archive, by its number within the deposit. */
  file(collection: string, id: number, number: number): string {
    return this.#at(collection, id, 'media', number);
  }

  /** State-IRI */
  status(collection: string, id: number): string {
    return this.#at(collection, id, 'status');
  }

  /** CONT-FILE-IRI */
  content(collection: string, id: number): string {
    return this.#at(collection, id, 'content');
  }

  /** Where the SWORD Statement is, in each of its formats. */
  statement(collection: string, id: number): string {
    return this.#at(collection, id, 'statement');
  }

  /** What has happened to a deposit; pages after the first begin at a later event. */
  history(collection: string, id: number, from = 0): string {
    return `${this.#at(collection, id, 'history')}${from > 0 ? `?from=${from}` : ''}`;
  }

  /** Where its changes of status are told as they happen. */
  events(collection: string, id: number): string {
    return this.#at(collection, id, 'events');
  }

  /** What a SWHID names, with or without qualifiers; only deposits with ids below `below` are told. */
  object(swhid: string, below?: number): string {
    const segment = swhid.includes(';') ? encodeURIComponent(swhid) : swhid;
    return `${this.base}/1/resolve/${segment}/${below === undefined ? '' : `?below=${below}`}`;
  }

  #at(...segments: readonly (string | number)[]): string {
    return `${this.base}/1/${segments.map(encodeURIComponent).join('/')}/`;
  }
}

function normalised(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`"${baseUrl}" is not a base URL: write http or https, a host, and perhaps a path.`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
