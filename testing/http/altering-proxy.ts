import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { resetAfter } from './fault-proxy.ts';
import { LocalServer } from './local-server.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the connection ends after the body, though a longer one was announced. */
  readonly breaks?: boolean;
  /** Whether nothing follows the body, though a longer one was announced. */
  readonly stalls?: boolean;
};

type Altered = Answer | 'lost' | 'held';

/**
 * Returns an altered answer, or loses it, or never sends it; `request` is such as `GET /path`, `headers` are those of the
 * request.
 */
export type Alteration = (
  answer: Answer,
  request: string,
  headers: Readonly<Record<string, string>>,
) => Altered | Promise<Altered>;

export type AlteringOptions = {
  /** Headers that do not reach the service, of all requests or of some. */
  readonly drops?: readonly string[] | ((request: string) => readonly string[]);
  /**
   * Answers 413 to a request with a body of this length, as proxies do. Answers 503 after the whole body, which does not
   * reach the service, or loses it.
   */
  readonly refuses?: (request: string, bytes: number) => 413 | 503 | 'lost' | undefined;
  /** Number of bytes of its body after which the connection of a request breaks; `undefined`: never. */
  readonly breaksAfter?: (request: string) => number | undefined;
};

/**
 * A proxy before a service that speaks SWORD otherwise than it does, or over a worse network. Documents name the proxy
 * in place of the service; the test chooses further alterations.
 */
export class AlteringProxy implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #target: URL;
  readonly #server = new LocalServer((request, response) => this.#pass(request, response));
  readonly #alter: Alteration;
  readonly #options: AlteringOptions;

  static async start(
    target: string,
    alter: Alteration = (answer) => answer,
    options: AlteringOptions = {},
  ): Promise<AlteringProxy> {
    const proxy = new AlteringProxy(target, alter, options);
    await proxy.#server.listen();
    return proxy;
  }

  private constructor(target: string, alter: Alteration, options: AlteringOptions) {
    this.#target = new URL(target);
    this.#alter = alter;
    this.#options = options;
  }

  get url(): string {
    return this.#server.url;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method, url } = request;
    const line = `${method} ${url}`;
    this.requests.push(line);
    const refused = this.#options.refuses?.(line, Number(request.headers['content-length'] ?? 0));
    if (refused === 'lost' || refused === 503) {
      request.resume().once('end', () => {
        if (refused === 503) response.writeHead(refused).end();
        else response.destroy();
      });
      return;
    }
    if (refused !== undefined) {
      response.writeHead(refused, { connection: 'close' }).end('<html><h1>Too Large</h1></html>');
      return;
    }
    const { drops = [] } = this.#options;
    const dropped = typeof drops === 'function' ? drops(line) : drops;
    const headers = Object.entries(request.headers)
      .filter(([name]) => !dropped.includes(name))
      .map(([name, value]) => [name, String(value).replaceAll(this.url, this.#target.origin)]);
    const init = { method, path: url, headers: Object.fromEntries(headers) as Record<string, string> };
    const onward = http.request(this.#target, { ...init, agent: false }, (answer) => {
      void this.#answer(answer, { line, headers: init.headers }, response);
    });
    onward.on('error', () => response.destroy());
    request.on('close', () => request.complete || onward.destroy());
    const limit = this.#options.breaksAfter?.(line);
    if (limit !== undefined) resetAfter(request, limit);
    request.pipe(onward);
  }

  async #answer(
    answer: IncomingMessage,
    request: { readonly line: string; readonly headers: Readonly<Record<string, string>> },
    response: ServerResponse,
  ): Promise<void> {
    const own = (text: string): string => text.replaceAll(this.#target.origin, this.url);
    const bytes = await buffer(answer).catch(() => undefined);
    if (bytes === undefined) {
      response.destroy(); // the service broke off
      return;
    }
    const body = own(bytes.toString());
    const ofBody = body === '' ? [] : ['content-length', 'transfer-encoding', 'connection'];
    const headers = Object.fromEntries(
      Object.entries(answer.headers)
        .filter(([name]) => !ofBody.includes(name))
        .map(([name, value]) => [name, own(String(value))]),
    );
    const altered = await this.#alter(
      { status: answer.statusCode ?? 502, headers, body },
      request.line,
      request.headers,
    );
    if (altered === 'held') return;
    if (altered === 'lost') {
      response.destroy();
      return;
    }
    const length =
      altered.body === '' || altered.breaks || altered.stalls
        ? {}
        : { 'content-length': Buffer.byteLength(altered.body) };
    response.writeHead(altered.status, { ...altered.headers, ...length });
    if (altered.breaks) response.write(altered.body, () => response.destroy());
    else if (altered.stalls) response.write(altered.body);
    else response.end(altered.body);
  }
}
