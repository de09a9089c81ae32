import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { RawConversation, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { type Account, basic, hostOf } from './account.ts';

/**
 * httplib2 0.7.5, from its source: one connection, and headers in lower case. It sends the whole body without
 * credentials until the server requests them, for each path that is not below one that has.
 */
export class Httplib2 implements Disposable {
  readonly #account: Account;
  readonly #conversation: RawConversation;
  readonly #authorised: string[] = [];
  /** Requests that it sent without credentials. */
  readonly challenged: string[] = [];

  static async for(account: Account): Promise<Httplib2> {
    return new Httplib2(account, await RawConversation.with(account.url));
  }

  private constructor(account: Account, conversation: RawConversation) {
    this.#account = account;
    this.#conversation = conversation;
  }

  async request(
    method: string,
    iri: string,
    own: RawRequest['headers'],
    body?: string | Buffer,
  ): Promise<RawAnswer> {
    const { pathname } = new URL(iri);
    const headers: RawRequest['headers'] = [
      ['Host', hostOf(this.#account)],
      ...own,
      ['user-agent', 'Python-httplib2/0.7.5 (gzip)'],
      ['accept-encoding', 'gzip, deflate'],
    ];
    const request = { method, iri, headers, ...(body && { body }) };
    if (!this.#authorised.some((path) => pathname.startsWith(path))) {
      const answer = await this.#conversation.ask(request);
      if (answer.status !== 401) return answer;
      this.challenged.push(`${method} ${pathname}`);
      this.#authorised.push(pathname);
    }
    const authorization = ['authorization', basic(this.#account)] as const;
    return this.#conversation.ask({ ...request, headers: [...headers, authorization] });
  }

  [Symbol.dispose](): void {
    this.#conversation[Symbol.dispose]();
  }
}
