import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../logger.ts';
import { RecentlyUsed } from '../../recently-used.ts';
import type { Credentials } from '../credentials.ts';
import { isGranted, type OwnedDeposit } from '../deposit-resource.ts';
import type { HttpObserver } from '../http-observer.ts';
import { observeRequest, REQUEST_ID } from '../observe-requests.ts';
import { isHost } from '../request-target.ts';
import { routeOf } from '../route-of.ts';
import type { ServiceContext } from '../service-context.ts';
import { traceRequest } from '../trace-requests.ts';

export type RememberedAnswersOptions = {
  readonly credentials: Credentials;
  readonly logger: Logger;
  readonly observer: HttpObserver;
  readonly tracing: boolean;
};

/** Tells at once, from now on, whether the deposit is still what was shown. */
export type Stays = () => boolean;

const MAX_ANSWERS = 1024;
/** Characters: what is longer is not worth the memory. */
const LONGEST_BODY = 16 * 1024;
const LONGEST_KEY = 512;

/**
 * The headers that a request may have to be answered from here. None of them changes an answer that is kept, but
 * those that are looked at: `Accept`, `Authorization` and whether `Host` is one.
 */
const HARMLESS: ReadonlySet<string> = new Set([
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

type Kept = {
  readonly client: string;
  readonly collection: string;
  readonly stays: Stays;
  readonly status: number;
  readonly message: string;
  /** Names and values in turn; without the id of the request. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly route: string;
};

/**
 * Stands in front of Koa and gives an answer again to the same GET, while the client is still who it was and the
 * deposit still what was shown. Whatever is not known at once to be so is left to Koa.
 */
export class RememberedAnswers {
  readonly #options: RememberedAnswersOptions;
  readonly #kept = new RecentlyUsed<Kept>(MAX_ANSWERS);

  constructor(options: RememberedAnswersOptions) {
    this.#options = options;
  }

  /** Whether the request has been answered; otherwise nothing has been done about it. */
  answer(req: IncomingMessage, res: ServerResponse): boolean {
    const kept = req.method === 'GET' ? this.#kept.get(keyOf(req)) : undefined;
    if (!kept || !isPlain(req) || !this.#holds(kept, req)) return false;
    const { client, route, status, message, headers, body } = kept;
    const requestId = observeRequest({ req, res }, this.#options, () => ({ client, route }));
    if (this.#options.tracing) traceRequest({ req, res }, () => ({ requestId, route }));
    res.writeHead(status, message, [REQUEST_ID, requestId, ...headers]).end(body);
    return true;
  }

  /** Keeps the answer that a handler has just made about a deposit, if it may be given again. */
  keep(ctx: ServiceContext, { client, collection }: OwnedDeposit, staying: () => Stays | undefined): void {
    const { req, res, originalUrl: url, body, status } = ctx;
    const key = keyOf({ url, headers: req.headers });
    if (req.method !== 'GET' || !url.startsWith('/') || !isPlain(req) || !variesByAccept(res)) return;
    if (typeof body !== 'string' || body.length > LONGEST_BODY || key.length > LONGEST_KEY) return;
    const stays = staying();
    if (!stays) return;
    const answer = { status, message: res.statusMessage, headers: headersOf(res), body };
    this.#kept.set(key, { ...answer, client, collection, stays, route: routeOf(ctx) });
  }

  #holds({ client, collection, stays }: Kept, { headers }: IncomingMessage): boolean {
    try {
      const login = this.#options.credentials.recall(headers.authorization);
      return login?.client === client && isGranted(login, collection) && stays();
    } catch {
      return false; // a view that cannot be read: Koa finds that, too, and answers
    }
  }
}

/** Neither part can hold a line break. */
function keyOf({ url, headers: { accept } }: Pick<IncomingMessage, 'url' | 'headers'>): string {
  return accept === undefined ? `${url}` : `${url}\n${accept}`;
}

/** Whether the request has nothing that could change the answer but what is looked at here, and none of it twice. */
function isPlain({ headers, rawHeaders }: IncomingMessage): boolean {
  let names = 0;
  for (const name in headers) {
    if (!HARMLESS.has(name)) return false;
    names += 1;
  }
  return headers.host !== undefined && isHost(headers.host) && rawHeaders.length === 2 * names;
}

/** What varies by anything else is not known by its key. */
function variesByAccept(res: ServerResponse): boolean {
  return res.getHeader('Vary') === 'Accept';
}

function headersOf(res: ServerResponse): string[] {
  // Every message that goes out has this method; the types know it of those of clients only.
  const names = (res as ServerResponse & Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames();
  return names.filter((name) => name !== REQUEST_ID).flatMap((name) => [name, String(res.getHeader(name))]);
}
