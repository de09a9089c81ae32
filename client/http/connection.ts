import type { IncomingMessage } from 'node:http';
import type { Login } from '../settings.ts';
import { VERSION } from '../version.ts';
import { type Answer, headersOf, readAnswer } from './answer.ts';
import { type Body, type Exchange, exchange, Lost, mayAskFirst } from './exchange.ts';
import { isTransient, isTransientLoss, reasonOfLoss, secondsIn, unreachable, unsure } from './losses.ts';
import { Refused } from './refused.ts';
import { Retries, type TimeLimits } from './retries.ts';
import { onSameServer } from './same-server.ts';
import type { Watch } from './watch.ts';

type Headers = Readonly<Record<string, string>>;

export type SentRequest = {
  /** Those of each try, if a function returns them. */
  readonly headers?: Headers | (() => Headers);
  readonly body?: Body | undefined;
  readonly onSent?: ((bytes: number) => void) | undefined;
  /**
   * Whether the request may be repeated if its outcome is unknown. A request that did not reach the server completely
   * is always repeated.
   * With 'after a look', the sender must first ask how much the server received: then {@link Lost} is thrown.
   */
  readonly repeatable: boolean | 'after a look';
  /** A temporary status that the sender handles: the request is not retried after it. */
  readonly handled?: number;
  /** Retries of the operation that the request is a part of; by default, the request has its own. */
  readonly retries?: Retries | undefined;
};

/** Receives an answer as a stream. `onPiece` is called with whether the chunk is new, not one of an earlier try. */
type Take = (message: IncomingMessage, onPiece: (isNew: boolean) => void) => Promise<void>;

/** `repeated`: an earlier attempt may already have been executed. */
type Repeatable<Result> = Result & { readonly repeated: boolean };

export type ConnectionOptions = {
  readonly login: Login;
  readonly limits: TimeLimits;
  /** Called with messages about lost connections. */
  readonly note: (text: string) => void;
};

/** Tries of a request over http to a server that resets them and has not answered yet. */
const MAX_FIRST_LOSSES = 4;

/** Sends requests to one server, with retries. The credentials are sent to no other server. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #authorization: string;
  #wasAnswered = false;
  /** Connections lost. Before the first one, the server is probably down, or its name wrong: then nothing is retried. */
  #losses = 0;
  /** Whether no proxy has refused `Expect: 100-continue` yet. */
  #mayExpect = true;

  constructor(options: ConnectionOptions) {
    const { user, password } = options.login;
    this.#options = options;
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  get login(): Login {
    return this.#options.login;
  }

  get server(): URL {
    return this.login.server;
  }

  /** Starts the retries of one operation. */
  retries(): Retries {
    return new Retries(this.#options.limits);
  }

  noteLoss(error: Lost): void {
    this.#options.note(`Connection lost (${reasonOfLoss(error)}); retrying.`);
  }

  /** @throws {Refused} any answer other than 2xx. */
  get(iri: string, accept = 'application/xml'): Promise<Answer> {
    return this.write('GET', iri, { headers: { Accept: accept }, repeatable: true });
  }

  /**
   * Sends a request that must succeed.
   * @throws {Refused} any answer other than 2xx.
   * @throws {Unsure} the answer to a request that may not be repeated was lost.
   */
  async write(method: string, iri: string, request: SentRequest): Promise<Answer> {
    const answer = await this.ask(method, iri, request);
    if (!isSuccess(answer)) throw new Refused(answer);
    return answer;
  }

  /** Sends a request like {@link write}, and returns any answer. */
  ask(method: string, iri: string, request: SentRequest): Promise<Repeatable<Answer>> {
    return this.#sendWithRetries(method, iri, request, async (message) => readAnswer(message, method, iri));
  }

  /**
   * Streams a 2xx answer to `take`, and requests it again if the connection is lost. `take` calls `onPiece` for each chunk
   * that it has received. A new chunk restarts the time limit of retries.
   * @throws {Refused} any answer other than 2xx.
   */
  async download(
    iri: string,
    { headers, take }: { readonly headers?: () => Headers; readonly take: Take },
  ): Promise<void> {
    const retries = this.retries();
    const request = { repeatable: true, retries, ...(headers && { headers }) };
    const answer = await this.#sendWithRetries('GET', iri, request, async (message, watch) => {
      const head = { status: message.statusCode ?? 0, headers: headersOf(message) };
      if (!isSuccess(head)) return { ...head, refusal: await readAnswer(message, 'GET', iri) };
      await take(message, (isNew) => {
        watch.progressed();
        if (isNew) retries.reset();
      });
      return head;
    });
    if ('refusal' in answer) throw new Refused(answer.refusal);
  }

  async #sendWithRetries<Result extends Pick<Answer, 'status' | 'headers'>>(
    method: string,
    iri: string,
    request: SentRequest,
    read: (message: IncomingMessage, watch: Watch) => Promise<Result>,
  ): Promise<Repeatable<Result>> {
    const url = onSameServer(iri, this.server);
    const retries = request.retries ?? this.retries();
    for (let repeated = false; ; ) {
      try {
        const asksFirst = this.#mayExpect && mayAskFirst(request.body);
        const answer = await this.#try(method, url, { ...request, asksFirst }, retries, read);
        if (answer.status === 417 && asksFirst) {
          this.#mayExpect = false;
          continue;
        }
        const isHandled = answer.status === request.handled;
        const mayRepeat = request.repeatable === true && isTransient(answer) && !isHandled;
        if (!mayRepeat || !(await retries.next(secondsIn(answer.headers)))) return { ...answer, repeated };
        repeated = true;
        const reason = answer.status === 408 ? 'Request too slow' : 'Server not ready';
        this.#options.note(`${reason} (${answer.status}); retrying.`);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        if (error.connected) this.#losses += 1;
        repeated ||= error.delivered;
        const isUnsure = repeated && !isRead(method);
        await this.#waitForRetry(error, url, request, { retries, isUnsure });
      }
    }
  }

  async #try<Result>(
    method: string,
    url: URL,
    { headers, body, asksFirst, onSent, repeatable }: SentRequest & Pick<Exchange, 'asksFirst'>,
    retries: Retries,
    read: (message: IncomingMessage, watch: Watch) => Promise<Result>,
  ): Promise<Result> {
    using watch = retries.watch(isRead(method) || repeatable === 'after a look');
    const own = typeof headers === 'function' ? headers() : headers;
    const all = { 'User-Agent': `deposit/${VERSION}`, ...own, Authorization: this.#authorization };
    const message = await exchange({ method, url, headers: all, body, asksFirst, onSent, watch });
    this.#wasAnswered = true;
    try {
      return await read(message, watch);
    } catch (error) {
      message.destroy(); // unread, it would keep the process from ending
      throw error;
    }
  }

  /** Resolves when the request may be repeated. */
  async #waitForRetry(
    error: Lost,
    url: URL,
    { repeatable }: SentRequest,
    { retries, isUnsure }: { retries: Retries; isUnsure: boolean },
  ): Promise<void> {
    const wasReached = this.#wasAnswered || this.#losses > 0;
    if (!wasReached || !isTransientLoss(error)) throw unreachable(url, error);
    if (repeatable === 'after a look') throw error;
    if (!repeatable && error.delivered) throw unsure(url, error);
    // Some servers that expect TLS reset each connection without it.
    const mayExpectTls = !this.#wasAnswered && url.protocol === 'http:' && error.code === 'ECONNRESET';
    if ((mayExpectTls && this.#losses >= MAX_FIRST_LOSSES) || !(await retries.next())) {
      const hint = mayExpectTls ? '; perhaps it speaks https' : '';
      throw isUnsure ? unsure(url, error) : unreachable(url, error, hint);
    }
    this.noteLoss(error);
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status <= 299;
}
