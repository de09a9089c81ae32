import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { OperatorRoute } from '../../http/http-module.ts';
import { messageOf } from '../../tools/coded-error.ts';
import { throwNaming } from '../../tools/files/describe-fs-error.ts';
import { files } from '../../tools/files.ts';
import { random } from '../../tools/random.ts';
import { controlFile } from './control-file.ts';

type OperatorServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** Commands for processes on this machine that can read the data folder, by method and path, as in `GET /state`. */
  readonly routes: Readonly<Record<string, OperatorRoute>>;
  /** Result of `GET /metrics`, which needs no token: a text, and its media type. */
  readonly metrics?: () => Promise<{ readonly type: string; readonly text: string }>;
};

/**
 * Serves operator commands on a separate port. The port and a token are in a file that only the user of the service can
 * read.
 */
export class OperatorServer implements AsyncDisposable {
  readonly #options: OperatorServerOptions;
  readonly #token = random.bytes(32).toString('base64url');
  readonly #server: http.Server;

  static async listen(options: OperatorServerOptions): Promise<OperatorServer> {
    const server = new OperatorServer(options);
    server.#server.on('error', () => undefined); // a connection that cannot be accepted ends nothing
    await once(server.#server.listen(options.port, options.host), 'listening');
    try {
      server.#writeControlFile();
    } catch (error) {
      server.#server.close(); // an open server would keep a process alive whose start has failed
      throw error;
    }
    return server;
  }

  private constructor(options: OperatorServerOptions) {
    this.#options = options;
    this.#server = http.createServer((req, res) => void this.#answer(req, res));
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo; // it listens on TCP
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#removeFile();
    const closed = this.#server[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Removes the control file. If that fails, as on a read-only disk, the file is like that of a killed service. */
  #removeFile(): void {
    try {
      files.rmSync(controlFile(this.#options.dataDir), { force: true });
    } catch {
      // Commands find that the service does not answer there.
    }
  }

  #writeControlFile(): void {
    const file = controlFile(this.#options.dataDir);
    const facts = { url: this.url, token: this.#token, pid: process.pid };
    try {
      files.writeFileSync(`${file}.new`, JSON.stringify(facts), { mode: 0o600 });
    } catch (error) {
      throwNaming(`${file}.new`)(error as NodeJS.ErrnoException);
    }
    files.renameSync(`${file}.new`, file);
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const name = `${req.method} ${req.url}`;
      if (/^(GET|HEAD) \/metrics(\?|$)/.test(name) && this.#options.metrics) {
        const { type, text } = await this.#options.metrics();
        res.writeHead(200, { 'Content-Type': type }).end(text); // the server omits the body for HEAD
        return;
      }
      const route = this.#options.routes[name];
      if (!this.#isAllowed(req)) send(res, 401, { error: 'The token is not that of operator.json.' });
      else if (!route) send(res, 404, { error: `There is nothing at ${name}.` });
      else send(res, 200, (await route(req.method === 'POST' ? await json(req) : undefined)) ?? {});
    } catch (error) {
      const status = error instanceof SyntaxError ? 400 : 500; // SyntaxError: the body is not JSON
      send(res, status, { error: messageOf(error) });
    }
  }

  #isAllowed({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const [given, right] = [Buffer.from(authorization), Buffer.from(`Bearer ${this.#token}`)];
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

function send(res: ServerResponse, status: number, body: unknown): void {
  if (res.headersSent) res.destroy();
  else res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
