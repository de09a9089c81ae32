import { type RawAnswer, RawConnection } from './raw-connection.ts';

/** A request byte for byte: its headers are sent as they are spelled and in this order, without others. */
export type RawRequest = {
  readonly method: string;
  /** Absolute IRI; its path is sent. */
  readonly iri: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
};

/** Sends requests and reads answers alternately on one connection. */
export class RawConversation implements Disposable {
  readonly #connection: RawConnection;
  #answers = 0;

  static async with(iri: string): Promise<RawConversation> {
    return new RawConversation(await RawConnection.to(iri));
  }

  private constructor(connection: RawConnection) {
    this.#connection = connection;
  }

  /** Resolves to the final answer. With `Expect` the body is sent only after `100 Continue`. */
  async ask({ method, iri, headers, body }: RawRequest): Promise<RawAnswer> {
    const { pathname, search } = new URL(iri);
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
    await this.#connection.send(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
    if (headers.some(([name]) => name === 'Expect')) {
      const interim = await this.#next();
      if (interim.status !== 100) return interim;
    }
    if (body !== undefined) await this.#connection.send(body);
    return this.#next();
  }

  #next(): Promise<RawAnswer> {
    this.#answers += 1;
    return this.#connection.answers(this.#answers);
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

/** Sends a request on a new connection. */
export async function askAlone(request: RawRequest): Promise<RawAnswer> {
  using conversation = await RawConversation.with(request.iri);
  return await conversation.ask(request);
}

/** Returns `undefined` if the answer does not have the header. */
export function headerOf({ head }: RawAnswer, name: string): string | undefined {
  const line = head.split('\r\n').find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}: `));
  return line?.slice(name.length + 2);
}
