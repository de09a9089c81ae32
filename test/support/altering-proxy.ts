import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Altered = { status: number; headers: Record<string, string>; body: string };

/** Makes another answer of one, or has it lost on its way; `told` is as in `GET /path`. */
export type Alteration = (answer: Altered, told: string) => Altered | 'lost';

/**
 * Stands before a service that speaks SWORD its way, and speaks it another way: documents name the proxy in place of
 * the service, and are altered further as a test has it.
 */
export class AlteringProxy implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #target: URL;
  readonly #server: Server;
  readonly #alter: Alteration;

  static async start(target: string, alter: Alteration): Promise<AlteringProxy> {
    const proxy = new AlteringProxy(target, alter);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(target: string, alter: Alteration) {
    this.#target = new URL(target);
    this.#alter = alter;
    this.#server = http.createServer((request, response) => this.#pass(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const told = `${request.method} ${request.url}`;
    this.requests.push(told);
    const { method, url } = request;
    const { origin } = this.#target;
    const theirs = Object.entries(request.headers).map(([name, value]) => [
      name,
      String(value).replaceAll(this.url, origin),
    ]);
    const headers = Object.fromEntries(theirs) as Record<string, string>;
    const onward = http.request(this.#target, { method, path: url, headers, agent: false }, (answer) => {
      void this.#answer(answer, told, response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  async #answer(answer: IncomingMessage, told: string, response: ServerResponse): Promise<void> {
    const own = (text: string): string => text.replaceAll(this.#target.origin, this.url);
    const headers = Object.fromEntries(
      Object.entries(answer.headers)
        .filter(([name]) => !['content-length', 'transfer-encoding', 'connection'].includes(name))
        .map(([name, value]) => [name, own(String(value))]),
    );
    const body = own((await buffer(answer)).toString());
    const altered = this.#alter({ status: answer.statusCode ?? 502, headers, body }, told);
    if (altered === 'lost') {
      response.destroy();
      return;
    }
    response.writeHead(altered.status, altered.headers);
    response.end(altered.body);
  }
}
