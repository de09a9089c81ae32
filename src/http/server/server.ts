import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { clock } from '../../tools/clock.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import { files } from '../../tools/files.ts';
import { abortResponse } from './abort-response.ts';
import { drainWithinLimits } from './drain-request.ts';
import { closeIdle, closeKeptTooLong, type HttpSocket, limitHalfOpen } from './idle-connections.ts';
import { answerParseError, type HeaderLimits, type ParseErrorOptions, refuseTunnel } from './parse-errors.ts';

export type ServerOptions = HeaderLimits & {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Whether connections come from a proxy, which reuses them. */
  readonly trustProxy: boolean;
  /** Idle timeout of a connection in milliseconds; no setting changes it. */
  readonly idleTime?: number;
  /** Milliseconds for which a connection is kept after an answer; no setting changes it. */
  readonly keepAliveTime?: number;
};

/** Handles a request. Resolves when all work for it has ended; `undefined`: it has ended already. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | undefined;

/** Milliseconds after which idle connections are closed; `IDLE_TIMEOUT_MS` applies to unresponsive clients. */
const KEEP_ALIVE_TIMEOUT_MS = 10_000;
/** Like `KEEP_ALIVE_TIMEOUT_MS`, for proxies: they must close first, or their clients get 502. */
const PROXY_KEEP_ALIVE_TIMEOUT_MS = 130_000;
/** Milliseconds added to the announced timeout: timers of a busy client are late, and its requests would be lost. */
const KEEP_ALIVE_LEEWAY_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Milliseconds between two closings of idle connections while the server stops, for requests already sent on them. */
const IDLE_CLOSE_INTERVAL_MS = 100;
/** Milliseconds for aborted requests to end. */
const ABORT_GRACE_MS = 3000;
/** Maximum number of pipelined requests of one connection that wait for earlier ones. */
const MAX_PIPELINED = 100;

/** The listening server: handles the parts of HTTP that Koa does not see. */
export class Server {
  readonly #server: http.Server;
  readonly #tls: boolean;
  /** When the certificate expires that clients get; `undefined` without TLS. A renewed one is read at the next start. */
  readonly certificateExpiry: Date | undefined;
  #serving: { handler: Handler; errors: ParseErrorOptions } | undefined;
  /** Requests that arrived before {@link serve}. */
  readonly #early = new Set<Parameters<Handler>>();
  /** Connections during their TLS handshake, by remote address and port: the HTTP server does not know them. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #running = new Set<Promise<void>>();
  /** All other connections, including those that Node has detached. */
  readonly #connections = new Set<HttpSocket>();
  readonly #pipelined = new WeakMap<Socket, number>();
  /** When the last answer of a connection ended, by `clock.monotonic()`. */
  readonly #answeredAt = new WeakMap<Socket, number>();
  #closing = false;

  static async listen(options: ServerOptions): Promise<Server> {
    const server = new Server(options);
    server.#server.on('error', () => undefined); // a connection that cannot be accepted ends nothing
    await once(server.#server.listen(options.port, options.host), 'listening');
    return server;
  }

  private constructor(options: ServerOptions) {
    const { maxHeadersSize, headersTime, idleTime = IDLE_TIMEOUT_MS } = options;
    this.#tls = options.tls !== null;
    const pair = options.tls && readPair(options.tls);
    this.certificateExpiry = pair ? new X509Certificate(pair.cert).validToDate : undefined;
    this.#server = createServer(options, pair);
    this.#server.setTimeout(idleTime, (socket: HttpSocket) => {
      // Node has its own timeouts between two requests and for late headers.
      const hasHeadersToCome = !socket._httpMessage && socket.timeout === idleTime;
      if (!hasHeadersToCome || headersTime < idleTime) closeIdle(socket);
    });
    this.#server.on(this.#tls ? 'secureConnection' : 'connection', (socket: HttpSocket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      limitHalfOpen(socket);
    });
    const kept = closeKeptTooLong(this.#connections, this.#answeredAt, keptLimitOf(options));
    this.#server.once('close', () => clock.clearInterval(kept));
    if (this.#tls) this.#trackHandshakes();
    const handle = (req: IncomingMessage, res: ServerResponse): void => this.#handle(req, res);
    this.#server.on('request', handle);
    this.#server.on('checkContinue', handle); // the reader of the body sends 100 Continue
    this.#server.on('checkExpectation', handle);
    this.#server.on('clientError', (error, socket: Socket) => {
      if (this.#serving)
        answerParseError(error, socket, { maxHeadersSize, headersTime }, this.#serving.errors);
      else socket.destroy();
    });
    this.#server.on('connect', (_req, socket: Socket) => {
      if (this.#serving) refuseTunnel(socket, this.#serving.errors);
      else socket.destroy();
    });
  }

  #trackHandshakes(): void {
    this.#server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      this.#handshakes.set(peer, socket);
      socket.once('close', () => this.#handshakes.delete(peer));
    });
    this.#server.on('secureConnection', (socket: Socket) => this.#handshakes.delete(peerOf(socket)));
    // Runs before Node turns it into an HTTP error, which could not be answered.
    this.#server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req; // a request that is destroyed has none
    res.once('close', () => this.#answeredAt.set(socket, clock.monotonic()));
    drainWithinLimits(req, res);
    // Node ignores the upgrade and drops bytes received with it: without `close`, a client could wait for a response to
    // them.
    if (asksToUpgrade(req)) res.shouldKeepAlive = false;
    // HTTP/1.0 has no chunks, so a proxy may have taken the end of the body for another request (RFC 9112, section 6.1).
    if (req.httpVersion === '1.0' && req.headers['transfer-encoding'] !== undefined)
      res.shouldKeepAlive = false;
    if (res.socket) this.#begin(req, res);
    else this.#beginInOrder(req, res);
  }

  /** Delays a pipelined request: earlier ones may change its resource, and all responses would be in memory at once. */
  #beginInOrder(req: IncomingMessage, res: ServerResponse): void {
    const waiting = (this.#pipelined.get(req.socket) ?? 0) + 1;
    this.#pipelined.set(req.socket, waiting);
    if (waiting > MAX_PIPELINED) req.socket.destroy();
    else {
      res.once('socket', () => {
        this.#pipelined.set(req.socket, (this.#pipelined.get(req.socket) ?? 1) - 1);
        this.#begin(req, res);
      });
    }
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    if (this.#closing) res.shouldKeepAlive = false; // makes the client reconnect
    if (this.#serving) this.#run(this.#serving.handler(req, res));
    else this.#early.add([req, res]);
  }

  #run(work: Promise<void> | undefined): void {
    if (!work) return;
    this.#running.add(work);
    const remove = (): boolean => this.#running.delete(work);
    work.then(remove, remove);
  }

  /** Sets the handler of all requests and the options of error responses. */
  serve(handler: Handler, errors: ParseErrorOptions): void {
    this.#serving = { handler, errors };
    for (const [req, res] of this.#early) this.#run(handler(req, res));
    this.#early.clear();
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo; // it listens on TCP
    return `${this.#tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  connections(): Promise<number> {
    return promisify(this.#server.getConnections.bind(this.#server))();
  }

  /**
   * Stops accepting connections and lets running requests finish for up to `graceMs`. Then aborts the rest and
   * waits a moment for their work to end, so that their resources are not closed too early.
   */
  async close(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closing = true;
    // The method of http.Server would close idle connections immediately, and lose requests in transit.
    net.Server.prototype.close.call(this.#server, () => resolve());
    for (const [, res] of this.#early) res.destroy(); // no handler will ever answer them
    const idle = clock.setInterval(() => {
      // After the next poll: behind a delayed timer, requests may wait that have arrived.
      clock.setImmediate(() => {
        if (!this.#isSending()) this.#server.closeIdleConnections();
      });
      for (const socket of this.#handshakes.values()) socket.destroy();
    }, IDLE_CLOSE_INTERVAL_MS);
    const timer = clock.setTimeout(() => this.#abortAll(), graceMs);
    await promise;
    clock.clearInterval(idle);
    clock.clearTimeout(timer);
    await withTimeout(Promise.allSettled(this.#running), ABORT_GRACE_MS);
  }

  /** Whether any connection has unsent bytes: Node regards it as idle once its response is written. */
  #isSending(): boolean {
    return this.#connections.values().some(({ writableLength }) => writableLength > 0);
  }

  #abortAll(): void {
    for (const socket of this.#connections) {
      if (socket._httpMessage) abortResponse(socket._httpMessage);
      else socket.destroy();
    }
  }
}

function asksToUpgrade({ headers: { upgrade, connection = '' } }: IncomingMessage): boolean {
  return upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function keepAliveTimeOf({ trustProxy, keepAliveTime }: ServerOptions): number {
  return keepAliveTime ?? (trustProxy ? PROXY_KEEP_ALIVE_TIMEOUT_MS : KEEP_ALIVE_TIMEOUT_MS);
}

function leewayOf(options: ServerOptions): number {
  return Math.min(KEEP_ALIVE_LEEWAY_MS, keepAliveTimeOf(options));
}

/** Returns the maximum milliseconds from an answer to the end of the next request's headers. */
function keptLimitOf(options: ServerOptions): number {
  return keepAliveTimeOf(options) + leewayOf(options) + options.headersTime;
}

type Pair = { readonly cert: Buffer; readonly key: Buffer };

function createServer(given: ServerOptions, pair: Pair | null): http.Server {
  const { maxHeadersSize, headersTime } = given;
  const options = {
    // Bodies have timeouts of their own, which grow with their size.
    headersTimeout: headersTime,
    requestTimeout: 0,
    maxHeaderSize: maxHeadersSize,
    keepAliveTimeout: keepAliveTimeOf(given),
    keepAliveTimeoutBuffer: leewayOf(given),
    connectionsCheckingInterval: Math.min(5000, Math.ceil(headersTime / 3)),
    // Node's own response to a missing Host has no body: readTarget refuses it instead.
    requireHostHeader: false,
    optimizeEmptyRequests: true, // creates no stream for a body that is not declared
  };
  const server = pair ? createTlsServer(pair, headersTime, options) : http.createServer(options);
  // A client that half-closes after its request is answered (limitHalfOpen). Headers are limited by bytes only: above a
  // number of headers, a Node reports too many bytes or drops the last ones.
  return Object.assign(server, { httpAllowHalfOpen: true, maxHeadersCount: 0 });
}

function readPair({ cert, key }: NonNullable<ServerOptions['tls']>): Pair {
  return { cert: files.readFileSync(cert), key: files.readFileSync(key) };
}

function createTlsServer(pair: Pair, handshakeTimeout: number, options: http.ServerOptions): http.Server {
  const ALPNProtocols = ['http/1.1', 'http/1.0']; // proxies use the older version, and curl then offers no other
  return https.createServer({ ...options, ...pair, ALPNProtocols, handshakeTimeout, allowHalfOpen: true });
}
