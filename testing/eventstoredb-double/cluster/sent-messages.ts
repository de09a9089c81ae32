import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerHttp2Stream } from 'node:http2';

type Call = { readonly stream: ServerHttp2Stream; readonly headers: Readonly<Record<string, string>> };

/** Counts the messages that the servers of this process at the given ports send to their clients. */
export class SentMessages implements Disposable {
  /** By method, as in `Read`. */
  readonly byMethod = new Map<string, number>();
  /** Calls whose headers accept compressed messages. */
  compressible = 0;
  readonly #ports: ReadonlySet<number>;
  readonly #watch = (message: unknown) => this.#count(message as Call); // by its channel

  constructor(ports: readonly number[]) {
    this.#ports = new Set(ports);
    subscribe('http2.server.stream.created', this.#watch);
  }

  get total(): number {
    return [...this.byMethod.values()].reduce((sum, count) => sum + count, 0);
  }

  [Symbol.dispose](): void {
    unsubscribe('http2.server.stream.created', this.#watch);
  }

  #count({ stream, headers }: Call): void {
    if (!this.#ports.has(stream.session?.socket.localPort ?? 0)) return;
    if (headers['grpc-accept-encoding'] !== 'identity') this.compressible += 1;
    const method = headers[':path']?.split('/').at(-1) ?? '';
    const write = stream.write.bind(stream) as (frame: Uint8Array, ...rest: unknown[]) => boolean;
    stream.write = (frame: Uint8Array, ...rest: unknown[]) => {
      this.byMethod.set(method, (this.byMethod.get(method) ?? 0) + 1); // @grpc/grpc-js writes a message in one call
      return write(frame, ...rest);
    };
  }
}
