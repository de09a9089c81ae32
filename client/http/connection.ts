import type { IncomingMessage } from 'node:http';
import { Fault, Unreachable } from '../faults.ts';
import type { Login } from '../settings.ts';
import { type Answer, headersOf, readAnswer } from './answer.ts';
import { type Body, exchange, Lost } from './exchange.ts';
import { type Patience, Pauses } from './patience.ts';
import { Refused } from './refused.ts';

export type SentRequest = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  readonly onSent?: ((bytes: number) => void) | undefined;
  /**
   * Whether the request may be sent again when nobody knows what became of it. One that did not reach the server
   * whole is sent again in any case.
   */
  readonly repeatable: boolean;
};

/** `repeated`: an earlier try may have done already what was asked for. */
export type Written = { readonly answer: Answer; readonly repeated: boolean };

/** Nobody knows whether what was asked for has been done. */
export class Unsure extends Unreachable {}

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
   * @throws {Refused} any other answer than 2xx.
   */
  async download<Taken>(iri: string, take: (message: IncomingMessage) => Promise<Taken>): Promise<Taken> {
    const { answer } = await this.#persist('GET', iri, { repeatable: true }, async (message) => {
      const head = { status: message.statusCode ?? 0, headers: headersOf(message) };
      if (!isSuccess(head)) throw new Refused(await readAnswer(message, 'GET', iri));
      return { ...head, taken: await take(message) };
    });
    return answer.taken;
  }

  async #persist<Result extends Pick<Answer, 'status' | 'headers'>>(
    method: string,
    iri: string,
    request: SentRequest,
    read: (message: IncomingMessage) => Promise<Result>,
  ): Promise<{ readonly answer: Result; readonly repeated: boolean }> {
    const url = this.#ownUrl(iri);
    const pauses = new Pauses(this.#options.patience);
    for (let repeated = false; ; ) {
      try {
        const answer = await read(await this.#exchange(method, url, request));
        this.#wasReached = true;
        const mayRepeat = request.repeatable && isPassing(answer);
        if (!mayRepeat || !(await pauses.next(secondsIn(answer.headers)))) return { answer, repeated };
        repeated = true;
        this.#options.note(`The server is not ready (${answer.status}); trying again.`);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        const mayRepeat = request.repeatable || !error.delivered;
        if (!mayRepeat) throw unsure(url, error);
        if (!this.#wasReached || !isPassingLoss(error) || !(await pauses.next()))
          throw unreachable(url, error);
        repeated ||= error.delivered;
        this.#options.note(`The connection to ${url.host} was lost (${reason(error)}); trying again.`);
      }
    }
  }

  #exchange(method: string, url: URL, { headers, body, onSent }: SentRequest): Promise<IncomingMessage> {
    const all = { 'User-Agent': 'deposit', ...headers, Authorization: this.#authorization };
    return exchange({ method, url, headers: all, body, onSent });
  }

  /** The password is for this server only, whatever its documents name. */
  #ownUrl(iri: string): URL {
    const { server } = this;
    const url = URL.canParse(iri, server) ? new URL(iri, server) : undefined;
    if (!url) throw new Fault(`The server at ${server.origin} names an address that is none: ${iri}`);
    if (originOf(url) === originOf(server)) return url;
    throw new Fault(
      `The server at ${server.origin} names an address elsewhere, ${url.href}, where the password is not sent. If ${url.origin} is its right address, give that as --server; else its operator has to put its base URL right.`,
    );
  }
}

/** One machine goes by several names. */
function originOf({ protocol, hostname, port }: URL): string {
  const host = ['127.0.0.1', '[::1]'].includes(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}:${port}`;
}

export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status <= 299;
}

/** Answers of a server, or of a proxy before it, that time heals. */
function isPassing({ status }: Pick<Answer, 'status'>): boolean {
  return [502, 503, 504].includes(status);
}

const PASSING_LOSSES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN IDLE ERR_STREAM_PREMATURE_CLOSE'.split(
    ' ',
  ),
);

function isPassingLoss({ code }: Lost): boolean {
  return PASSING_LOSSES.has(code);
}

/** `Retry-After` as seconds; a date is not worth the trouble. */
function secondsIn(headers: Answer['headers']): number {
  const seconds = Number(headers['retry-after'] ?? 0);
  return Number.isFinite(seconds) ? seconds : 0;
}

function unreachable(url: URL, error: Lost): Unreachable {
  const what = error.code.startsWith('HPE_') ? 'does not speak HTTP there' : 'cannot be reached';
  return new Unreachable(`The server at ${url.origin} ${what}: ${reason(error)}.`, error);
}

function unsure(url: URL, error: Lost): Unsure {
  const text = `The connection to ${url.host} was lost before the answer came (${reason(error)}): what was sent may have been recorded, or not.`;
  return new Unsure(text, error);
}

/** A name that has several addresses gives an error for each. */
function reason({ cause, message, code }: Lost): string {
  const [first] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return first?.message ?? (message || code);
}
