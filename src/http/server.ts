import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { badRequest, SwordError } from '../sword/sword-error.ts';
import { type ErrorOptions, errorBody } from './answer-errors.ts';

export type ServerOptions = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Bytes of the headers of a request, and milliseconds for them to arrive. */
  readonly maxHeadersSize: number;
  readonly headersTime: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
};

type HeaderLimits = Pick<ServerOptions, 'maxHeadersSize' | 'headersTime'>;

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Connections on which nothing is asked are closed after this one, those on which nothing moves after that. */
const KEEP_ALIVE_TIMEOUT = 10_000;
const IDLE_TIMEOUT = 60_000;
/** So long a server that stops still hears what comes on connections that it left open. */
const FAREWELL = 100;
/** A body that was refused is taken up to here, so that its sender gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 ** 2;
const DRAIN_TIME = 30_000;

/** The listening server: what Koa does not see of HTTP happens here. */
export class Server {
  readonly #server: http.Server;
  readonly #tls: boolean;
  #serving: { handler: Handler; errors: ErrorOptions } | undefined;
  /** Requests that came before anything could answer them. */
  readonly #early = new Set<Parameters<Handler>>();
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

  private constructor({ tls, maxHeadersSize, headersTime }: ServerOptions) {
    // Bodies have time-outs of their own, which grow with their size.
    const limits = { headersTimeout: headersTime, requestTimeout: 0, maxHeaderSize: maxHeadersSize };
    // Without a Host the answer of Node itself would have no body: readTarget refuses instead.
    const timeouts = {
      ...limits,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: Math.min(5000, Math.ceil(headersTime / 3)),
      requireHostHeader: false,
      optimizeEmptyRequests: true, // no stream is made for a body that is not declared
    };
    this.#tls = tls !== null;
    this.#server = tls
      ? https.createServer({ ...timeouts, cert: readFileSync(tls.cert), key: readFileSync(tls.key) })
      : http.createServer(timeouts);
    this.#server.setTimeout(IDLE_TIMEOUT);
    const handle = (req: IncomingMessage, res: ServerResponse): void => {
      if (mayHaveBody(req)) boundDraining(req, res);
      if (this.#closing) res.shouldKeepAlive = false; // the client is told to connect anew
      if (this.#serving) this.#serving.handler(req, res);
      else this.#early.add([req, res]);
    };
    this.#server.on('request', handle);
    this.#server.on('checkContinue', handle); // whoever reads the body says 100 Continue
    this.#server.on('checkExpectation', handle);
    this.#server.on('clientError', (error, socket) => {
      if (this.#serving)
        answerParseError(error, socket, { maxHeadersSize, headersTime }, this.#serving.errors);
      else socket.destroy();
    });
    this.#server.on('connect', (_req, socket) => {
      // Node has let go of the socket: nobody else hears its errors or closes it.
      socket.on('error', () => socket.destroy());
      socket.once('finish', () => socket.destroy());
      if (this.#serving) answerOnSocket(socket, NO_PROXY, this.#serving.errors);
      else socket.destroy();
    });
  }

  /** What answers from now on, and how it speaks of errors. */
  serve(handler: Handler, errors: ErrorOptions): void {
    this.#serving = { handler, errors };
    for (const [req, res] of this.#early) handler(req, res);
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

  /** Takes no new connections, lets running requests finish for up to `patience` ms, then cuts what is left. */
  async close(patience: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closing = true;
    // That of HTTP would cut idle connections at once, and with them requests that are on their way.
    net.Server.prototype.close.call(this.#server, () => resolve());
    for (const [, res] of this.#early) res.destroy(); // nothing will ever answer them
    const idle = setInterval(() => this.#server.closeIdleConnections(), FAREWELL);
    const timer = setTimeout(() => this.#server.closeAllConnections(), patience);
    await promise;
    clearInterval(idle);
    clearTimeout(timer);
  }
}

/**
 * Once the answer is sent, what is left of the request is read and dropped within bounds: closing at once
 * would reset the connection under a client that is still sending, and it would never see the answer.
 */
function boundDraining(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req;
  let last = false;
  // What Node calls after the last answer of a connection, such as one that was asked to close.
  socket.destroySoon = () => {
    if (req.complete) Socket.prototype.destroySoon.call(socket);
    else {
      last = true;
      socket.end();
    }
  };
  res.once('finish', () => {
    if (req.complete) return;
    const [start, deadline] = [socket.bytesRead, performance.now() + DRAIN_TIME];
    const timer = setInterval(() => {
      const over = socket.bytesRead - start > DRAIN_BYTES || performance.now() > deadline;
      if (over || (last && req.complete)) socket.destroy();
      if (over || req.complete || socket.destroyed) clearInterval(timer);
    }, 100).unref();
    req.resume();
  });
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** What is no HTTP gets a SWORD error, too, and the connection ends. */
function answerParseError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  limits: HeaderLimits,
  options: ErrorOptions,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || hasAnswered(socket as Socket)) {
    socket.destroy();
    return;
  }
  answerOnSocket(socket, parseErrorOf(error.code, limits), options);
}

type SocketAnswer = readonly [statusLine: string, answer: SwordError];

const NO_PROXY: SocketAnswer = [
  '405 Method Not Allowed',
  new SwordError('MethodNotAllowed', 'CONNECT is not possible here.', { headers: { Allow: '' } }),
];

function answerOnSocket(socket: Duplex, [status, answer]: SocketAnswer, options: ErrorOptions): void {
  const body = errorBody(answer, options);
  options.observer.refused(answer.code);
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/xml',
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function parseErrorOf(code: string | undefined, { maxHeadersSize, headersTime }: HeaderLimits): SocketAnswer {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        badRequest(`The headers exceed ${maxHeadersSize} bytes.`),
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [
        '408 Request Timeout',
        badRequest(`The headers did not arrive within ${headersTime / 1000} seconds.`),
      ];
    case 'HPE_INVALID_EOF_STATE': {
      const text = 'The request ended before its body had the length that was declared.';
      return ['412 Precondition Failed', new SwordError('ErrorChecksumMismatch', text)];
    }
    default:
      return ['400 Bad Request', badRequest('The request is not valid HTTP/1.1.')];
  }
}

/** Whether an answer is under way on the connection already: a second one would be mistaken for the next. */
function hasAnswered(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
