import type { IncomingMessage } from 'node:http';
import type { Login } from '../settings.ts';
import { type Answer, headersOf, readAnswer } from './answer.ts';
import { type Body, exchange, Lost } from './exchange.ts';
import { isPassing, isPassingLoss, reasonOfLoss, secondsIn, unreachable, unsure } from './losses.ts';
import { type Patience, Pauses } from './patience.ts';
import { Refused } from './refused.ts';
import { onSameServer } from './same-server.ts';
import type { Watch } from './watch.ts';

export type SentRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  readonly onSent?: ((bytes: number) => void) | undefined;
  /**
   * Whether the request may be sent again when nobody knows what became of it. One that did not reach the server
   * whole is sent again in any case, unless its sender has to look first how much of it did: then {@link Lost} is
   * thrown.
   */
  readonly repeatable: boolean | 'after a look';
  /** Of a larger thing that the request is a part of; else the request has patience of its own. */
  readonly pauses?: Pauses | undefined;
};

/** `repeated`: an earlier try may have done already what was asked for. */
export type Written = { readonly answer: Answer; readonly repeated: boolean };

export type ConnectionOptions = {
  readonly login: Login;
  readonly patience: Patience;
  /** Told of what goes wrong on the way. */
  readonly note: (text: string) => void;
};

/** The way to one server: with credentials, which go nowhere else, and with patience. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #authorization: string;
  /** Before it was reached once, the server may well be down, or its name wrong. */
  #wasReached = false;

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

  /** Pauses as long as the patience lasts. */
  pauses(): Pauses {
    return new Pauses(this.#options.patience);
  }

  noteLoss(error: Lost): void {
    this.#options.note(`The connection was lost (${reasonOfLoss(error)}); trying again.`);
  }

  /** @throws {Refused} any other answer than 2xx. */
  get(iri: string, accept = 'application/xml'): Promise<Answer> {
    return this.write('GET', iri, { headers: { Accept: accept }, repeatable: true });
  }

  /**
   * @throws {Refused} any other answer than 2xx.
   * @throws {Unsure} the answer was lost of what may not be repeated.
   */
  async write(method: string, iri: string, request: SentRequest): Promise<Answer> {
    const { answer } = await this.ask(method, iri, request);
    if (!isSuccess(answer)) throw new Refused(answer);
    return answer;
  }

  /** Like {@link write}, but whatever the answer is. */
  ask(method: string, iri: string, request: SentRequest): Promise<Written> {
    return this.#persist(method, iri, request, async (message) => readAnswer(message, method, iri));
  }

  /**
   * Gives an answer 2xx to `take` as it comes, and again from its beginning when the connection is lost on the way.
   * `take` tells of each piece that it has got.
   * @throws {Refused} any other answer than 2xx.
   */
  async download<Taken>(
    iri: string,
    take: (message: IncomingMessage, onPiece: () => void) => Promise<Taken>,
  ): Promise<Taken> {
    const { answer } = await this.#persist('GET', iri, { repeatable: true }, async (message, watch) => {
      const head = { status: message.statusCode ?? 0, headers: headersOf(message) };
      if (!isSuccess(head)) return { ...head, refusal: await readAnswer(message, 'GET', iri) };
      return { ...head, taken: await take(message, () => watch.movedOn()) };
    });
    if ('refusal' in answer) throw new Refused(answer.refusal);
    return answer.taken;
  }

  async #persist<Result extends Pick<Answer, 'status' | 'headers'>>(
    method: string,
    iri: string,
    request: SentRequest,
    read: (message: IncomingMessage, watch: Watch) => Promise<Result>,
  ): Promise<{ readonly answer: Result; readonly repeated: boolean }> {
    const url = onSameServer(iri, this.server);
    const pauses = request.pauses ?? this.pauses();
    for (let repeated = false; ; ) {
      try {
        const answer = await this.#try(method, url, request, pauses, read);
        this.#wasReached = true;
        const mayRepeat = request.repeatable === true && isPassing(answer);
        if (!mayRepeat || !(await pauses.next(secondsIn(answer.headers)))) return { answer, repeated };
        repeated = true;
        this.#options.note(`The server is not ready (${answer.status}); trying again.`);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        repeated ||= error.delivered;
        const isUnsure = repeated && !isRead(method);
        await this.#bear(error, url, request, { pauses, isUnsure });
      }
    }
  }

  async #try<Result>(
    method: string,
    url: URL,
    { headers, body, onSent, repeatable }: SentRequest,
    pauses: Pauses,
    read: (message: IncomingMessage, watch: Watch) => Promise<Result>,
  ): Promise<Result> {
    using watch = pauses.watch(isRead(method) || repeatable === 'after a look');
    const all = { 'User-Agent': 'deposit', ...headers, Authorization: this.#authorization };
    return await read(await exchange({ method, url, headers: all, body, onSent, watch }), watch);
  }

  /** Resolves when the request may be sent again. */
  async #bear(
    error: Lost,
    url: URL,
    { repeatable }: SentRequest,
    { pauses, isUnsure }: { pauses: Pauses; isUnsure: boolean },
  ): Promise<void> {
    if (!this.#wasReached || !isPassingLoss(error)) throw unreachable(url, error);
    if (repeatable === 'after a look') throw error;
    if (!repeatable && error.delivered) throw unsure(url, error);
    if (!(await pauses.next())) throw isUnsure ? unsure(url, error) : unreachable(url, error);
    this.noteLoss(error);
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status <= 299;
}
