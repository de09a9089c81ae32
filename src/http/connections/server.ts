import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { inTime } from '../../in-time.ts';
import { clock } from '../../tools/clock.ts';
import { files } from '../../tools/files.ts';
import type { ErrorOptions } from '../answering/answer-errors.ts';
import { boundDraining, boundHalfOpen, breakOff, closeIdle, type HttpSocket } from './connection-ends.ts';
import { answerParseError, type HeaderLimits, refuseTunnel } from './parse-errors.ts';

export type ServerOptions = HeaderLimits & {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Whether connections come from a proxy, which uses them again. */
  readonly trustProxy: boolean;
  /** Milliseconds for which nothing may move on a connection; no setting changes it. */
  readonly idleTime?: number;
};

/** Resolves when nothing of it goes on any more; `undefined`: that is so already. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | undefined;

/** Connections on which nothing is asked are closed after this one, those whose client does not move after that. */
const KEEP_ALIVE_TIMEOUT = 10_000;
/** Proxies are to close theirs first: a request that meets this side closing is lost, and its client gets 502. */
const KEEP_ALIVE_TIMEOUT_OF_PROXIES = 130_000;
/** Milliseconds more than they are told: the timers of a busy client are late, and what it asks then would be lost. */
const KEEP_ALIVE_LEEWAY = 10_000;
const IDLE_TIME = 60_000;
/** So long a server that stops still hears what comes on connections that it left open. */
const FAREWELL = 100;
/** So long requests that were cut off may take to come to their ends. */
const LAST_STEPS = 3000;
/** Requests of one connection that may wait for those in front of them. */
const MOST_PIPELINED = 100;

/** The listening server: what Koa does not see of HTTP happens here. */
export class Server {
  readonly #server: http.Server;
  readonly #tls: boolean;
  #serving: { handler: Handler; errors: ErrorOptions } | undefined;
  /** Requests that came before anything could answer them. */
  readonly #early = new Set<Parameters<Handler>>();
  /** Connections on which TLS is not agreed yet, by their other ends: HTTP does not know of them. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #running = new Set<Promise<void>>();
  /** All others, also those that Node has let go of. */
  readonly #connections = new Set<HttpSocket>();
  readonly #pipelined = new WeakMap<Socket, number>();
  #closing = false;

  /** Resolves once it listens. */
  static async listen(options: ServerOptions): Promise<Server> {
    const server = new Server(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.#server.once('error', reject);
    server.#server.listen(options.port, options.host, resolve);
    await promise;
    return server;
  }

  private constructor(options: ServerOptions) {
    const { maxHeadersSize, headersTime, idleTime = IDLE_TIME } = options;
    this.#tls = options.tls !== null;
    this.#server = createServer(options);
    this.#server.setTimeout(idleTime, (socket: HttpSocket) => {
      // Node has another time for it between two requests, and tells who takes too long for headers.
      const hasHeadersToCome = !socket._httpMessage && socket.timeout === idleTime;
      if (!hasHeadersToCome || headersTime < idleTime) closeIdle(socket);
    });
    this.#server.on(this.#tls ? 'secureConnection' : 'connection', (socket: HttpSocket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      boundHalfOpen(socket);
    });
    if (this.#tls) this.#boundHandshakes();
    const handle = (req: IncomingMessage, res: ServerResponse): void => this.#handle(req, res);
    this.#server.on('request', handle);
    this.#server.on('checkContinue', handle); // whoever reads the body says 100 Continue
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

  #boundHandshakes(): void {
    this.#server.on('connection', (socket: Socket) => {
      const peer = peerOf(socket);
      this.#handshakes.set(peer, socket);
      socket.once('close', () => this.#handshakes.delete(peer));
    });
    this.#server.on('secureConnection', (socket: Socket) => this.#handshakes.delete(peerOf(socket)));
    // This comes before Node makes an error of HTTP of it, to which nothing could be answered.
    this.#server.prependListener('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    boundDraining(req, res);
    // Node passes over the wish, and drops what has come at once with it: nobody is to wait for the answer to that.
    if (asksToUpgrade(req)) res.shouldKeepAlive = false;
    if (res.socket) this.#begin(req, res);
    else this.#await(req, res);
  }

  /** Pipelined: what is in front of it may change what it is about, and their answers would all be held at once. */
  #await(req: IncomingMessage, res: ServerResponse): void {
    const waiting = (this.#pipelined.get(req.socket) ?? 0) + 1;
    this.#pipelined.set(req.socket, waiting);
    if (waiting > MOST_PIPELINED) req.socket.destroy();
    else {
      res.once('socket', () => {
        this.#pipelined.set(req.socket, (this.#pipelined.get(req.socket) ?? 1) - 1);
        this.#begin(req, res);
      });
    }
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    if (this.#closing) res.shouldKeepAlive = false; // the client is told to connect anew
    if (this.#serving) this.#run(this.#serving.handler(req, res));
    else this.#early.add([req, res]);
  }

  #run(work: Promise<void> | undefined): void {
    if (!work) return;
    this.#running.add(work);
    const over = (): boolean => this.#running.delete(work);
    work.then(over, over);
  }

  /** What answers from now on, and how it speaks of errors. */
  serve(handler: Handler, errors: ErrorOptions): void {
    this.#serving = { handler, errors };
    for (const [req, res] of this.#early) this.#run(handler(req, res));
    this.#early.clear();
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo; // it listens on TCP
    return `${this.#tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** How many are open now. */
  connections(): Promise<number> {
    return promisify(this.#server.getConnections.bind(this.#server))();
  }

  /**
   * Takes no new connections, lets running requests finish for up to `patience` ms, then cuts what is left and waits
   * for what goes on behind it a moment more: nothing of theirs is to be closed meanwhile.
   */
  async close(patience: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closing = true;
    // That of HTTP would cut idle connections at once, and with them requests that are on their way.
    net.Server.prototype.close.call(this.#server, () => resolve());
    for (const [, res] of this.#early) res.destroy(); // nothing will ever answer them
    const idle = clock.setInterval(() => {
      if (!this.#isSending()) this.#server.closeIdleConnections();
      for (const socket of this.#handshakes.values()) socket.destroy();
    }, FAREWELL);
    const timer = clock.setTimeout(() => this.#cut(), patience);
    await promise;
    clock.clearInterval(idle);
    clock.clearTimeout(timer);
    await inTime(Promise.allSettled(this.#running), LAST_STEPS);
  }

  /** Node takes a connection for idle as soon as all of its answer is on the way, however much that is. */
  #isSending(): boolean {
    return this.#connections.values().some(({ writableLength }) => writableLength > 0);
  }

  #cut(): void {
    for (const socket of this.#connections) {
      if (socket._httpMessage) breakOff(socket._httpMessage);
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

function createServer({ tls, maxHeadersSize, headersTime, trustProxy }: ServerOptions): http.Server {
  const options = {
    // Bodies have time-outs of their own, which grow with their size.
    headersTimeout: headersTime,
    requestTimeout: 0,
    maxHeaderSize: maxHeadersSize,
    keepAliveTimeout: trustProxy ? KEEP_ALIVE_TIMEOUT_OF_PROXIES : KEEP_ALIVE_TIMEOUT,
    keepAliveTimeoutBuffer: KEEP_ALIVE_LEEWAY,
    connectionsCheckingInterval: Math.min(5000, Math.ceil(headersTime / 3)),
    // Without a Host the answer of Node itself would have no body: readTarget refuses instead.
    requireHostHeader: false,
    optimizeEmptyRequests: true, // no stream is made for a body that is not declared
  };
  const server = tls ? createTlsServer(tls, headersTime, options) : http.createServer(options);
  // Who has sent all that he has to say is answered (boundHalfOpen). Headers are bounded by their bytes alone: of more
  // than a number of them, a Node says that they are too many bytes, or drops the last ones.
  return Object.assign(server, { httpAllowHalfOpen: true, maxHeadersCount: 0 });
}

function createTlsServer(
  { cert, key }: NonNullable<ServerOptions['tls']>,
  handshakeTimeout: number,
  options: http.ServerOptions,
): http.Server {
  const pair = { cert: files.readFileSync(cert), key: files.readFileSync(key) };
  const ALPNProtocols = ['http/1.1', 'http/1.0']; // proxies speak the older one, and curl names no other then
  return https.createServer({ ...options, ...pair, ALPNProtocols, handshakeTimeout, allowHalfOpen: true });
}
