import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { clock } from '../tools/clock.ts';
import { outgoing } from '../tools/outgoing.ts';
import {
  assertMayBeReceiver,
  checkedLookup,
  ReceiverRefused,
  type ReceiverRules,
} from './receiver-address.ts';

/** What became of a notification that was sent. */
export type Outcome = { readonly taken: true } | Failure;

export type Failure = {
  readonly taken: false;
  /** A sentence for whoever runs the receiver. */
  readonly reason: string;
  /** Nobody answered: the next notification would fare no better. */
  readonly isUnreachable: boolean;
  /** Milliseconds that the receiver asked to be left alone for. */
  readonly retryAfter: number;
};

/** For connecting and answering together, in milliseconds. */
const PATIENCE = 10_000;
/** Of an answer, whose body means nothing, in bytes and milliseconds. */
const [MAX_BODY, BODY_PATIENCE] = [16_384, 1000];
const MAX_RETRY_AFTER = 3_600_000;
/** How many are in use at the same time is decided by those who send. */
const SOCKETS = { keepAlive: true, maxFreeSockets: 8, timeout: 30_000 };

/** Sends notifications. Follows no redirect, and connects to nothing but the addresses that it has checked. */
export class Postman implements Disposable {
  readonly #rules: ReceiverRules;
  readonly #agents = { 'http:': outgoing.agent(false, SOCKETS), 'https:': outgoing.agent(true, SOCKETS) };
  readonly #userAgent: string;

  constructor(rules: ReceiverRules, userAgent: string) {
    this.#rules = rules;
    this.#userAgent = userAgent;
  }

  /** @throws only when `signal` aborts */
  async post(
    address: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const patience = clock.timeoutSignal(PATIENCE);
    try {
      const url = new URL(address);
      assertMayBeReceiver(url, this.#rules);
      return outcomeOf(await this.#send(url, body, headers, AbortSignal.any([signal, patience])));
    } catch (error) {
      signal.throwIfAborted();
      const reason = patience.aborted ? `No answer came within ${PATIENCE / 1000} seconds.` : reasonOf(error);
      return { taken: false, reason, isUnreachable: true, retryAfter: 0 };
    }
  }

  [Symbol.dispose](): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send(
    url: URL,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const options: RequestOptions = {
      ...urlToHttpOptions(url),
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': this.#userAgent,
        ...headers,
      },
      lookup: checkedLookup(this.#rules),
      agent: this.#agents[url.protocol === 'https:' ? 'https:' : 'http:'],
      signal,
    };
    const request = outgoing.request(options);
    try {
      return await answerOf(request, body);
    } catch (error) {
      // A connection that was kept may have been closed at the other end: that says nothing of the receiver.
      if (!request.reusedSocket || signal.aborted) throw error;
      return await answerOf(outgoing.request({ ...options, agent: false }), body);
    }
  }
}

/** Resolves when the connection is free again or gone: what is under way at the same time are connections in use. */
function answerOf(request: ClientRequest, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let answer: IncomingMessage | undefined;
  const over = (error?: Error): void => {
    if (answer) resolve(answer);
    else reject(error ?? new Error('closed without one'));
  };
  request.on('error', over);
  request.once('close', over); // of a 101 there is no word but this
  request.once('response', (message) => {
    answer = message;
    dropBody(message);
  });
  request.end(body);
  return promise;
}

/** Reads it to its end, so that the connection can be used again, unless it is long or slow. */
function dropBody(answer: IncomingMessage): void {
  let bytes = 0;
  const late = clock.setTimeout(() => answer.destroy(), BODY_PATIENCE);
  answer.once('close', () => clock.clearTimeout(late));
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY) answer.destroy();
  });
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { taken: true };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const reason = isRedirect
    ? `It was answered with the redirect ${statusCode}: the webhook has to be set to where that leads.`
    : `It was answered ${statusCode}.`;
  return { taken: false, reason, isUnreachable: false, retryAfter: retryAfterIn(headers, clock.now()) };
}

/** Seconds or a date (RFC 9110, 10.2.3); anything else asks for nothing. */
function retryAfterIn({ 'retry-after': text = '' }: IncomingHttpHeaders, now: number): number {
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER);
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return 0;
  const date = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`); // the oldest form does not say so
  return Number.isNaN(date) ? 0 : Math.min(Math.max(date - now, 0), MAX_RETRY_AFTER);
}

function reasonOf(error: unknown): string {
  if (error instanceof ReceiverRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return `No connection, or no answer on it: ${code ?? message}.`;
}
