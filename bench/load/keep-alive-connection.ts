import { connect, type Socket } from 'node:net';

/**
 * One connection with one request at a time. It understands just enough of HTTP/1.1 to keep the cost of a request far
 * below that of any server, as both share the machine.
 */
export class KeepAliveConnection implements Disposable {
  readonly #socket: Socket;
  #pending: PromiseWithResolvers<number> | undefined;
  #held: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the body, and the received status. */
  #left = 0;
  #status = 0;

  static async open(url: string): Promise<KeepAliveConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.removeAllListeners('error');
    return new KeepAliveConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('The server closed the connection.')));
  }

  /** Resolves to the status when the answer is complete. */
  async request(head: string, body?: Uint8Array, times = 1): Promise<number> {
    this.#pending = Promise.withResolvers<number>();
    const { promise } = this.#pending;
    promise.catch(() => undefined); // awaited below
    this.#socket.write(head);
    for (let turn = 0; turn < (body ? times : 0); turn += 1) {
      const hasRoom = this.#socket.write(body as Uint8Array);
      if (!hasRoom && turn < times - 1) await Promise.race([this.#drained(), promise]);
    }
    return promise;
  }

  [Symbol.dispose](): void {
    this.#socket.removeAllListeners();
    this.#socket.destroy();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('drain', resolve));
  }

  #receive(chunk: Buffer): void {
    if (this.#left > 0) {
      this.#left -= chunk.length;
      if (this.#left === 0) this.#finish();
      return;
    }
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const end = this.#held.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#held.toString('latin1', 0, end);
    this.#status = Number(head.slice(9, 12));
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    if (length === undefined && this.#status !== 204)
      return this.#fail(new Error(`An answer without a Content-Length: ${head}`));
    this.#left = Number(length ?? 0) - (this.#held.length - end - 4);
    this.#held = Buffer.alloc(0);
    if (this.#left === 0) this.#finish();
  }

  #finish(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve(this.#status);
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
