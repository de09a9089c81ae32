import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { LocalServer } from './local-server.ts';

export type Fault =
  /** The connection breaks after this number of bytes of the request's body. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** Nothing is answered, but the connection stays. */
  | { readonly kind: 'silent' }
  /** The answer stops after this number of bytes of its body, and the connection stays. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** The answer comes a byte at a time, at this interval in milliseconds. */
  | { readonly kind: 'drip'; readonly every: number }
  /** A page of a web server, as captive portals and misplaced proxies send it. */
  | { readonly kind: 'html' }
  | { readonly kind: 'status'; readonly status: number; readonly code: string }
  | { readonly kind: 'wrong-etag' }
  /** The answer says that it begins at the first byte. */
  | { readonly kind: 'wrong-range' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  /** The answer is short but announces that it is complete. */
  | { readonly kind: 'shorten'; readonly bytes: number }
  /** Milliseconds before the request is forwarded. */
  | { readonly kind: 'slow'; readonly delay: number }
  /** Runs before the request is forwarded. */
  | { readonly kind: 'after'; readonly event: () => Promise<unknown> }
  /** The server executes the request, `event` runs, and the connection breaks without an answer. */
  | { readonly kind: 'lost'; readonly event?: () => Promise<unknown> }
  /** An answer of these bytes of XML instead of the server's. */
  | { readonly kind: 'xml'; readonly xml: string };

type Injected = { readonly fault: Fault; readonly match: RegExp; times: number };

/** A proxy before an HTTP server that injects network faults; requests are named like `PUT /path?query`. */
export class FaultProxy implements AsyncDisposable {
  readonly requests: string[] = [];
  /** Number of requests whose answer has neither ended nor broken. */
  open = 0;
  readonly #target: number;
  readonly #server = new LocalServer((request, response) => this.#pass(request, response));
  #injected: Injected | undefined;

  static async start(target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await proxy.accept();
    return proxy;
  }

  private constructor(target: number) {
    this.#target = target;
  }

  get port(): number {
    return this.#server.port;
  }

  /** Injects the fault into every matching request, or only into the first few. */
  inject(fault: Fault, match: RegExp = /./, times = Infinity): void {
    this.#injected = { fault, match, times };
  }

  heal(): void {
    this.#injected = undefined;
  }

  /** Breaks open connections and refuses new ones. */
  refuse(): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  /** Accepts connections again, on the same port. */
  accept(): Promise<void> {
    return this.#server.listen();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const line = `${request.method} ${request.url}`;
    this.requests.push(line);
    this.open += 1;
    response.once('close', () => {
      this.open -= 1;
    });
    const fault = this.#meets(line);
    if (fault?.kind === 'slow') void setTimeout(fault.delay).then(() => this.#forward(request, response));
    else if (fault?.kind === 'after') void fault.event().then(() => this.#forward(request, response));
    else if (fault?.kind === 'xml') answerXml(request, response, 200, fault.xml);
    else if (fault?.kind === 'silent') request.resume();
    else if (fault?.kind === 'html') page(request, response);
    else if (fault?.kind === 'status') refuse(request, response, fault);
    else this.#forward(request, response, fault);
  }

  #meets(line: string): Fault | undefined {
    const injected = this.#injected;
    if (injected === undefined || injected.times === 0 || !injected.match.test(line)) return undefined;
    injected.times -= 1;
    return injected.fault;
  }

  #forward(request: IncomingMessage, response: ServerResponse, fault?: Fault): void {
    const { method, url, headers } = request;
    const onward = http.request({ port: this.#target, host: '127.0.0.1', method, path: url, headers });
    onward.on('error', () => response.destroy());
    onward.on('response', (answer) => back(answer, response, fault));
    request.on('close', () => request.complete || onward.destroy());
    if (fault?.kind === 'reset') resetAfter(request, fault.afterBytes);
    request.pipe(onward);
  }
}

/** Breaks the connection after this number of bytes of the request's body. */
export function resetAfter(request: IncomingMessage, bytes: number): void {
  let passed = 0;
  request.on('data', (chunk: Buffer) => {
    passed += chunk.length;
    if (passed >= bytes) request.socket.resetAndDestroy();
  });
}

function back(answer: IncomingMessage, response: ServerResponse, fault?: Fault): void {
  if (fault?.kind === 'lost') {
    answer.resume();
    return void Promise.resolve(fault.event?.()).then(() => response.destroy());
  }
  const headers = { ...answer.headers };
  if (fault?.kind === 'wrong-etag' && headers.etag) headers.etag = `"${'0'.repeat(32)}"`;
  if (fault?.kind === 'wrong-range') headers['content-range'] = headers['content-range']?.replace(/\d+/, '0');
  if (fault?.kind === 'shorten' && headers['content-length']) headers['content-length'] = String(fault.bytes);
  answer.on('error', () => response.destroy());
  response.writeHead(answer.statusCode ?? 502, headers);
  if (fault?.kind === 'truncate') cut(answer, response, fault.bytes, () => response.destroy());
  else if (fault?.kind === 'shorten') cut(answer, response, fault.bytes, () => response.end());
  else if (fault?.kind === 'stall') cut(answer, response, fault.afterBytes, () => {});
  else if (fault?.kind === 'drip') void drip(answer, response, fault.every);
  else answer.pipe(response);
}

function cut(answer: IncomingMessage, response: ServerResponse, bytes: number, end: () => void): void {
  let left = bytes;
  response.flushHeaders();
  answer.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    const passed = chunk.subarray(0, left);
    left -= passed.length;
    response.write(passed, () => left === 0 && end());
  });
}

async function drip(answer: IncomingMessage, response: ServerResponse, every: number): Promise<void> {
  for await (const chunk of answer) {
    for (const byte of chunk as Buffer) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await setTimeout(every);
    }
  }
  response.end();
}

function page(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end('<!DOCTYPE html><html><body>Welcome to the guest network</body></html>');
}

/** Refuses like MinIO, which gives the reason for a refused HEAD in a header. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code }: { status: number; code: string },
): void {
  if (request.method === 'HEAD') response.setHeader('x-minio-error-code', code);
  answerXml(request, response, status, `<Error><Code>${code}</Code></Error>`);
}

function answerXml(request: IncomingMessage, response: ServerResponse, status: number, xml: string): void {
  request.resume();
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(xml);
}
