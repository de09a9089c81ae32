import { once } from 'node:events';
import net, { type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../testing/processes/free-port.ts';

/** `slow`: every chunk is delayed, in both directions. `silent`: every chunk waits until the fault is over. */
export type TcpFault = 'none' | 'refused' | 'reset' | 'slow' | 'silent';

export type TcpFaultProxyOptions = {
  /** The address and the port to listen at; by default any free port of 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
  /** Milliseconds by which a chunk is delayed on a slow connection. */
  readonly delayMs?: number;
};

const DELAY_MS = 700;

/** A TCP proxy before an engine that injects faults into its connections. */
export class TcpFaultProxy implements AsyncDisposable {
  /** The port of the engine. */
  target: number;
  readonly #host: string;
  readonly #port: number;
  readonly #delayMs: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #fault: TcpFault = 'none';
  /** Resolves when connections are no longer silent. */
  #silence: PromiseWithResolvers<void> | undefined;

  static async to(target: number, options: TcpFaultProxyOptions = {}): Promise<TcpFaultProxy> {
    const connection = new TcpFaultProxy(target, { port: await freePort(), ...options });
    await connection.#listen();
    return connection;
  }

  private constructor(
    target: number,
    { host = '127.0.0.1', port, delayMs = DELAY_MS }: TcpFaultProxyOptions & { readonly port: number },
  ) {
    this.target = target;
    this.#host = host;
    this.#port = port;
    this.#delayMs = delayMs;
    this.#server = net.createServer((socket) => this.#pass(socket));
  }

  get port(): number {
    return this.#port;
  }

  /** Sets the fault from now on; open connections break, unless they only become slow. */
  async inject(fault: TcpFault): Promise<void> {
    const wasRefused = this.#fault === 'refused';
    this.#fault = fault;
    this.#silence?.resolve();
    this.#silence = fault === 'silent' ? Promise.withResolvers() : undefined;
    if (fault === 'refused' || fault === 'reset')
      for (const socket of this.#sockets) socket.resetAndDestroy();
    if (fault === 'refused') await new Promise((resolve) => this.#server.close(resolve));
    else if (wasRefused) await this.#listen();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
  }

  #pass(socket: Socket): void {
    const onward = net.connect({ host: '127.0.0.1', port: this.target });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy()); // the other end closes, too
      one.once('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      void this.#forward(one, other).catch(() => other.destroy());
    }
    if (this.#fault === 'reset') socket.resetAndDestroy();
  }

  async #forward(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      if (this.#fault === 'slow') await pause(this.#delayMs);
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
