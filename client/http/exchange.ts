import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { clock } from '../../src/tools/clock.ts';
import { readProxies } from '../environment.ts';
import { isThisMachine } from '../settings.ts';
import type { Watch } from './watch.ts';

/** Bytes of known number that can be read again for a repeated request. */
export type Body = {
  readonly length: number;
  readonly pieces: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
};

export type Exchange = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  /** Whether to ask first whether the server accepts the body. See {@link mayAskFirst}. */
  readonly asksFirst: boolean;
  /** Called with the number of bytes of the body sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Timeout of the exchange: reset by progress, it destroys the request, then its answer. */
  readonly watch: Watch;
};

/** The connection failed, or ended before the answer arrived. */
export class Lost extends Error {
  override readonly name = 'Lost';
  readonly code: string;
  /** False if the error says that no connection could be made. */
  readonly connected: boolean;
  /** Whether the server may have received the whole request, and executed it. */
  readonly delivered: boolean;

  constructor(cause: NodeJS.ErrnoException, isWhole: boolean) {
    super(cause.message, { cause });
    this.code = cause.code ?? '';
    this.connected = !isNeverConnected(cause);
    this.delivered = isWhole && this.connected;
  }
}

/** Minimum bytes of a body for which the client sends `Expect: 100-continue`. */
const MIN_EXPECT_CONTINUE_BYTES = 64 * 1024;
/** Timeout for `100 Continue`, which some servers never send. */
const CONTINUE_TIMEOUT_MS = 3000;

/** Whether a body is large enough for `Expect: 100-continue`. */
export function mayAskFirst(body: Body | undefined): boolean {
  return body !== undefined && body.length >= MIN_EXPECT_CONTINUE_BYTES;
}

const agents = new Map<string, http.Agent>();

/**
 * Returns the agent of a request, which uses the proxies of the environment except for this machine. A write uses a
 * connection of its own: the server may close an idle one at the same moment, and then it would be unknown whether the
 * write was executed.
 * @throws {UsageFault} the environment names a proxy by what is no address.
 */
function agentFor(url: URL, method: string): http.Agent {
  const [keepAlive, isLocal] = [method === 'GET' || method === 'HEAD', isThisMachine(url)];
  const key = `${url.protocol} ${keepAlive} ${isLocal}`;
  const options = { keepAlive, ...(!isLocal && { proxyEnv: readProxies() }) };
  const agent = agents.get(key) ?? new (url.protocol === 'https:' ? https : http).Agent(options);
  agents.set(key, agent);
  return agent;
}

/**
 * Sends one request and returns the head of its answer. The body is sent as it is read; if the answer arrives early,
 * the rest is not sent. Redirects are answers like any other.
 * @throws {Lost}
 * @throws whatever reading the body throws.
 */
export async function exchange(request: Exchange): Promise<IncomingMessage> {
  const { method, url, headers, body, asksFirst, watch } = request;
  const sent = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    headers: {
      ...headers,
      ...(body && { 'Content-Length': String(body.length) }),
      ...(asksFirst && { Expect: '100-continue' }),
    },
    agent: agentFor(url, method),
  });
  const sending: Sending = { isWhole: (body?.length ?? 0) === 0 };
  const answered = answerTo(sent, sending, watch);
  answered.catch(() => undefined); // awaited below, after the body
  const failure = await deliver(sent, request, sending, answered);
  if (failure !== undefined) {
    sent.destroy();
    throw failure;
  }
  return answered;
}

/** Whether the server may have received the last byte of the request: true once it is written to the socket. */
type Sending = { isWhole: boolean };

function answerTo(sent: ClientRequest, sending: Sending, watch: Watch): Promise<IncomingMessage> {
  watch.setTarget(sent);
  return new Promise((resolve, reject) => {
    sent.once('response', (answer) => {
      watch.setTarget(answer);
      // The rest that the server did not want to read is not sent.
      answer.once('close', () => sent.writableFinished || sent.destroy());
      resolve(answer);
    });
    sent.on('error', (error) => {
      reject(new Lost(error, sending.isWhole));
    });
  });
}

/** Sends the body until the answer arrives. Resolves to the error of reading the body, if any. */
async function deliver(
  sent: ClientRequest,
  { body, asksFirst, onSent, watch }: Exchange,
  sending: Sending,
  answered: Promise<unknown>,
): Promise<unknown> {
  if (!body) {
    sent.end();
    return undefined;
  }
  let isOver = false;
  const end = (): void => void (isOver = true);
  const over = answered.then(end, end);
  if (asksFirst) await Promise.race([askFirst(sent, Math.min(CONTINUE_TIMEOUT_MS, watch.limit / 2)), over]);
  try {
    let count = 0;
    for await (const piece of body.pieces()) {
      if (isOver) return undefined;
      sending.isWhole = count + piece.length >= body.length;
      if (!sent.write(piece)) await Promise.race([drained(sent), over]);
      count += piece.length;
      watch.progressed();
      onSent?.(count);
    }
    if (!isOver) sent.end();
    return undefined;
  } catch (error) {
    return error ?? new Error('The body could not be read.');
  }
}

async function askFirst(sent: ClientRequest, timeoutMs: number): Promise<void> {
  const continued = new Promise<void>((resolve) => sent.once('continue', resolve));
  sent.flushHeaders();
  await connected(sent);
  const over = new Promise<void>((resolve) => clock.setTimeout(() => resolve(), timeoutMs).unref());
  await Promise.race([continued, over]);
}

function connected(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => resolve());
      else resolve();
    });
  });
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => sent.once('drain', resolve));
}

function isNeverConnected(error: NodeJS.ErrnoException): boolean {
  const { syscall, code = '' } = error;
  return (
    error instanceof AggregateError || // a name with several addresses, none of which accepted
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    /CERT|^ERR_(?:TLS|PROXY)|SELF_SIGNED|VERIFY/.test(code)
  );
}
