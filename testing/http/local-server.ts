import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { freePort } from '../processes/free-port.ts';

/** An HTTP server of this process. Once it is disposed of, it can listen again, on the same port. */
export class LocalServer implements AsyncDisposable {
  readonly #host: string;
  readonly #server: Server;
  #port = 0;

  constructor(listener: RequestListener, host = '127.0.0.1') {
    this.#host = host;
    this.#server = createServer(listener);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://${this.#host}:${this.#port}`;
  }

  /** By default on a free port. */
  async listen(port = this.#port): Promise<void> {
    this.#port = port === 0 ? await freePort() : port;
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
  }

  breakConnections(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.breakConnections();
    await closed;
  }
}
