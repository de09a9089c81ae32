import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import tls from 'node:tls';

/** A connection that sends exactly the given bytes, for requests that no HTTP client would send. */
export class RawConnection implements Disposable {
  readonly #socket: net.Socket;
  #received: Buffer[] = [];
  #ended = false;
  #error: NodeJS.ErrnoException | undefined;

  static async to(url: string): Promise<RawConnection> {
    return new RawConnection(await connectedTo(url));
  }

  /** Connects over TLS and completes the handshake. */
  static async overTls(url: string, ca: string, options: tls.ConnectionOptions = {}): Promise<RawConnection> {
    const connected = await connectedTo(url);
    const socket = tls.connect({ ...options, socket: connected, ca, servername: 'localhost' });
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received.push(chunk);
    });
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('end', () => {
      this.#ended = true;
    });
  }

  get text(): string {
    const received = Buffer.concat(this.#received);
    this.#received = [received];
    return received.toString('latin1');
  }

  /** The error of the broken connection, if any. */
  get error(): string | undefined {
    return this.#error?.code;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves once the bytes are written, or cannot be. */
  async send(bytes: string | Buffer): Promise<void> {
    if (this.#socket.destroyed) return;
    await new Promise((resolve) => this.#socket.write(bytes, 'latin1', resolve));
  }

  /** Closes the sending side and continues to receive. */
  halfClose(): void {
    this.#socket.end();
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Waits for `count` complete answers; resolves to the last of them. Rejects if the connection ends before. */
  async answers(count: number): Promise<RawAnswer> {
    for (;;) {
      const found = parseAnswers(this.text);
      const last = found[count - 1];
      if (last) return last;
      if (this.#ended || this.#error || this.#socket.destroyed) {
        throw new Error(`${found.length} answers before the end (${this.error}): ${this.text}`);
      }
      await pause(5);
    }
  }

  async untilEnded(): Promise<void> {
    while (!this.#ended && !this.#socket.destroyed) await pause(5);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Returns the head of a request with the credentials of a client; `line` is such as `GET /path`. */
export function requestHead(
  line: string,
  { authorization }: { readonly authorization: string },
  headers: Readonly<Record<string, string | number>> = {},
): string {
  const lines = Object.entries({ Host: 'x', Authorization: authorization, ...headers });
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

async function connectedTo(url: string): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

export type RawAnswer = { readonly status: number; readonly head: string; readonly body: string };

/** Parses complete answers, each with a Content-Length or without a body; interim ones count, too. */
function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const [head = ''] = rest.split('\r\n\r\n', 1);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const start = head.length + 4;
    if (rest.length < start + length) break;
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    answers.push({ status, head, body: rest.slice(start, start + length) });
    rest = rest.slice(start + length);
  }
  return answers;
}
