import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { LruCache } from '../../tools/lru-cache.ts';
import { addressOf, type Credentials } from '../middleware/credentials.ts';
import { type ObservingOptions, observeRequest, REQUEST_ID } from '../middleware/observe-requests.ts';
import { isHost } from '../middleware/request-target.ts';
import { isGranted } from '../requests/path-names.ts';
import { routeOf } from '../route-table.ts';
import type { ServiceContext } from '../service-context.ts';

export type ResponseCacheOptions = ObservingOptions & {
  readonly credentials: Credentials;
  readonly trustProxy: boolean;
};

const MAX_RESPONSES = 1024;
/** Maximum number of characters of a cached body; longer ones are not worth the memory. */
const MAX_BODY_CHARACTERS = 16 * 1024;
const MAX_KEY_CHARACTERS = 512;

/**
 * Headers that a request may have to be answered from the cache. Only `Accept`, `Authorization` and the validity of
 * `Host` affect the response, and these are checked.
 */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'connection',
  'host',
  'pragma',
  'sec-fetch-mode',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-proto',
]);

type CachedResponse = {
  readonly client: string;
  readonly collection: string;
  /** Returns without waiting whether the response is still valid for its deposit. */
  readonly isUnchanged: () => boolean;
  readonly status: number;
  readonly message: string;
  /** Alternating names and values, without the id of the request. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly route: string;
};

/**
 * Response cache in front of Koa. Repeats the response to the same GET while the login is valid and the deposit
 * unchanged. Passes requests on to Koa if that cannot be decided immediately.
 */
export class ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #responses = new LruCache<CachedResponse>(MAX_RESPONSES);

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
  }

  /** Answers the request from the cache. Returns false, without side effects, if it cannot. */
  answer(req: IncomingMessage, res: ServerResponse): boolean {
    const cached = req.method === 'GET' ? this.#responses.get(keyOf(req)) : undefined;
    if (!cached || !isPlain(req) || !this.#isValid(cached, req)) return false;
    const { client, route, status, message, headers, body } = cached;
    const { requestId } = observeRequest({ req, res }, this.#options, () => ({ client, route }));
    res.writeHead(status, message, [REQUEST_ID, requestId, ...headers]).end(body);
    return true;
  }

  /** Caches the response that a handler has just made about a deposit, if it may be repeated. */
  store(
    ctx: ServiceContext,
    { client, collection }: Pick<CachedResponse, 'client' | 'collection'>,
    validator: () => (() => boolean) | undefined,
  ): void {
    const { req, res, originalUrl: url, body, status } = ctx;
    const key = keyOf({ url, headers: req.headers });
    if (req.method !== 'GET' || !url.startsWith('/') || !isPlain(req) || !variesByAccept(res)) return;
    if (typeof body !== 'string' || body.length > MAX_BODY_CHARACTERS || key.length > MAX_KEY_CHARACTERS)
      return;
    const isUnchanged = validator();
    if (!isUnchanged) return;
    const answer = { status, message: res.statusMessage, headers: headersOf(res), body };
    this.#responses.set(key, { ...answer, client, collection, isUnchanged, route: routeOf(ctx) });
  }

  #isValid({ client, collection, isUnchanged }: CachedResponse, req: IncomingMessage): boolean {
    const { credentials, trustProxy } = this.#options;
    try {
      const { headers, socket } = req;
      const login = credentials.cachedLogin(headers.authorization, addressOf({ req }, trustProxy), socket);
      return login?.client === client && isGranted(login, collection) && isUnchanged();
    } catch {
      return false; // a view cannot be read: Koa meets the same error and answers it
    }
  }
}

/** Returns the cache key. Neither part can contain a line break. */
function keyOf({ url, headers: { accept } }: Pick<IncomingMessage, 'url' | 'headers'>): string {
  return accept === undefined ? `${url}` : `${url}\n${accept}`;
}

/** Returns whether the request has only headers that are known here, and none twice. */
function isPlain({ headers, rawHeaders, httpVersionMajor }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1) return false;
  let names = 0;
  for (const name in headers) {
    if (!KNOWN_HEADERS.has(name)) return false;
    names += 1;
  }
  return headers.host !== undefined && isHost(headers.host) && rawHeaders.length === 2 * names;
}

/** Returns whether the response varies by `Accept` alone, as the key does. */
function variesByAccept(res: ServerResponse): boolean {
  return res.getHeader('Vary') === 'Accept';
}

function headersOf(res: ServerResponse): string[] {
  // Every outgoing message has this method; the types declare it for client requests only.
  const names = (res as ServerResponse & Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames();
  return names.filter((name) => name !== REQUEST_ID).flatMap((name) => [name, String(res.getHeader(name))]);
}
