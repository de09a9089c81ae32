import { once } from 'node:events';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** `slow`: every piece of what is sent takes a while, in both directions. `silent`: it waits until that is over. */
export type Hurt = 'none' | 'refused' | 'reset' | 'slow' | 'silent';

export type HurtOptions = {
  /** The address and the port to listen at; by default any free port of 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  /** How long a piece takes on a slow connection. */
  readonly delayMs?: number;
};

const DELAY_MS = 700;

/** Stands before an engine, whatever it speaks over TCP, and hurts the connections to it. */
export class HurtConnection implements AsyncDisposable {
  /** The port of the engine. */
  target: number;
  readonly #host: string;
  readonly #delayMs: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #hurt: Hurt = 'none';
  #port: number;
  /** Ends when connections are not silent. */
  #silence: PromiseWithResolvers<void> | undefined;

  static async to(target: number, options: HurtOptions = {}): Promise<HurtConnection> {
    const connection = new HurtConnection(target, options);
    await connection.#listen();
    return connection;
  }

  private constructor(target: number, { host = '127.0.0.1', port = 0, delayMs = DELAY_MS }: HurtOptions) {
    this.target = target;
    this.#host = host;
    this.#port = port;
    this.#delayMs = delayMs;
    this.#server = net.createServer((socket) => this.#pass(socket));
  }

  get port(): number {
    return this.#port;
  }

  /** From now on; connections that are open break, unless they only become slow. */
  async hurt(hurt: Hurt): Promise<void> {
    const wasRefused = this.#hurt === 'refused';
    this.#hurt = hurt;
    this.#silence?.resolve();
    this.#silence = hurt === 'silent' ? Promise.withResolvers() : undefined;
    if (hurt === 'refused' || hurt === 'reset') for (const socket of this.#sockets) socket.resetAndDestroy();
    if (hurt === 'refused') await new Promise((resolve) => this.#server.close(resolve));
    else if (wasRefused) await this.#listen();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port; // a port, not a pipe
  }

  #pass(socket: Socket): void {
    const onward = net.connect({ host: '127.0.0.1', port: this.target });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy()); // as the other end does, too
      one.once('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      void this.#forward(one, other).catch(() => other.destroy());
    }
    if (this.#hurt === 'reset') socket.resetAndDestroy();
  }

  async #forward(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      if (this.#hurt === 'slow') await pause(this.#delayMs);
      await this.#silence?.promise;
      if (!to.write(chunk as Buffer)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    }
    to.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#silence?.resolve();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
