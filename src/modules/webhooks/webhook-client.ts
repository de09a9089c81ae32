import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { clock } from '../../tools/clock.ts';
import { outgoing } from '../../tools/outgoing.ts';
import {
  assertMayBeReceiver,
  checkedLookup,
  ReceiverRefused,
  type ReceiverRules,
} from './receiver-address.ts';

export type Outcome = { readonly taken: true } | Failure;

export type Failure = {
  readonly taken: false;
  /** A sentence for the operator of the receiver. */
  readonly reason: string;
  /** Whether no response was received: other notifications would fail, too. */
  readonly isUnreachable: boolean;
  /** Milliseconds that the receiver requested before a retry. */
  readonly retryAfter: number;
};

/** Timeout of one request, in milliseconds, including the connection. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Limits of a response body, which is ignored: bytes and milliseconds. */
const [MAX_BODY_BYTES, BODY_TIMEOUT_MS] = [16_384, 1000];
const MAX_RETRY_AFTER_MS = 3_600_000;
/** Codes of connections that failed for want of descriptors, memory or ports here, not at the receiver. */
const OWN_CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);
/** Options of the agents. They do not limit concurrent sockets; the senders do. */
const SOCKETS = { keepAlive: true, maxFreeSockets: 8, timeout: 30_000 };

/** Sends notifications. Follows no redirects, and connects only to addresses that it has checked. */
export class WebhookClient implements Disposable {
  readonly #rules: ReceiverRules;
  readonly #agents = { 'http:': outgoing.agent(false, SOCKETS), 'https:': outgoing.agent(true, SOCKETS) };
  readonly #userAgent: string;

  constructor(rules: ReceiverRules, userAgent: string) {
    this.#rules = rules;
    this.#userAgent = userAgent;
  }

  /** Sends one notification. @throws only when `signal` aborts */
  async post(
    address: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const timeout = clock.timeoutSignal(REQUEST_TIMEOUT_MS);
    try {
      const url = new URL(address);
      assertMayBeReceiver(url, this.#rules);
      return outcomeOf(await this.#send(url, body, headers, AbortSignal.any([signal, timeout])));
    } catch (error) {
      signal.throwIfAborted();
      const reason = timeout.aborted
        ? `No response within ${REQUEST_TIMEOUT_MS / 1000} seconds.`
        : reasonOf(error);
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
      // The receiver may have closed a kept-alive connection: that is no failure of the receiver.
      if (!request.reusedSocket || signal.aborted) throw error;
      return await answerOf(outgoing.request({ ...options, agent: false }), body);
    }
  }
}

/** Resolves when the connection is free or closed, so that concurrent requests equal connections in use. */
function answerOf(request: ClientRequest, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let answer: IncomingMessage | undefined;
  const settle = (error?: Error): void => {
    if (answer) resolve(answer);
    else reject(error ?? new Error('closed without an answer'));
  };
  request.on('error', settle);
  request.once('close', settle); // the only event after a 101
  request.once('response', (message) => {
    answer = message;
    dropBody(message);
  });
  request.end(body);
  return promise;
}

/** Drains the body, so that the connection can be reused, unless it is long or slow. */
function dropBody(answer: IncomingMessage): void {
  let bytes = 0;
  const timer = clock.setTimeout(() => answer.destroy(), BODY_TIMEOUT_MS);
  answer.once('close', () => clock.clearTimeout(timer));
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) answer.destroy();
  });
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { taken: true };
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const reason = isRedirect
    ? `The receiver answered with the redirect ${statusCode}: set the webhook to its target.`
    : `The receiver answered ${statusCode}.`;
  return { taken: false, reason, isUnreachable: false, retryAfter: retryAfterIn(headers, clock.now()) };
}

/** Returns milliseconds from seconds or a date (RFC 9110, 10.2.3); 0 for anything else. */
function retryAfterIn({ 'retry-after': text = '' }: IncomingHttpHeaders, now: number): number {
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return 0;
  const date = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`); // the oldest format has no zone
  return Number.isNaN(date) ? 0 : Math.min(Math.max(date - now, 0), MAX_RETRY_AFTER_MS);
}

function reasonOf(error: unknown): string {
  if (error instanceof ReceiverRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && OWN_CODES.has(code)) return `This service could not open a connection: ${code}.`;
  return `The connection failed: ${code ?? message}.`;
}
