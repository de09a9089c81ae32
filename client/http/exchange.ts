import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { clock } from '../../src/tools/clock.ts';
import type { Watch } from './watch.ts';

/** Bytes whose number is known before, and that can be read again when they have to be sent again. */
export type Body = {
  readonly length: number;
  readonly pieces: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
};

export type Exchange = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  /** Told how many bytes of the body were sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** Told of what moves on, and given what it has to end: the request, then its answer. */
  readonly watch: Watch;
};

/** The connection could not be made, or ended before the answer came. */
export class Lost extends Error {
  override readonly name = 'Lost';
  readonly code: string;
  /** The server may have received the whole request: what it asked for may have been done. */
  readonly delivered: boolean;

  constructor(cause: NodeJS.ErrnoException, delivered: boolean) {
    super(cause.message, { cause });
    this.code = cause.code ?? '';
    this.delivered = delivered;
  }
}

/** From this size on the server is asked first whether it wants the body. */
const ASKED_FIRST = 64 * 1024;
/** A server that knows nothing of `100 Continue` is not waited for longer than this. */
const CONTINUE_PATIENCE = 3000;

const agents = {
  'http:': new http.Agent({ keepAlive: true }),
  'https:': new https.Agent({ keepAlive: true }),
};

/**
 * One request and the head of its answer. A body is sent as it is read; when the answer comes before all of it was
 * sent, the rest is not. Redirects are answers like any other.
 * @throws {Lost}
 * @throws whatever reading the body throws.
 */
export async function exchange(request: Exchange): Promise<IncomingMessage> {
  const { method, url, headers, body, watch } = request;
  const asksFirst = body !== undefined && body.length >= ASKED_FIRST;
  const sent = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    headers: {
      ...headers,
      ...(body && { 'Content-Length': String(body.length) }),
      ...(asksFirst && { Expect: '100-continue' }),
    },
    // A write goes over a connection of its own: an idle one may be closed by the server at the same moment, and
    // then nobody could tell whether the write was done.
    agent: method === 'GET' || method === 'HEAD' ? agents[url.protocol as keyof typeof agents] : false,
  });
  const sending: Sending = { isWhole: (body?.length ?? 0) === 0 };
  const answered = answerTo(sent, sending, watch);
  answered.catch(() => undefined); // awaited below, after the body
  const failure = await deliver(sent, request, sending, answered, asksFirst);
  if (failure !== undefined) {
    sent.destroy();
    throw failure;
  }
  return answered;
}

/** Whether the server may have got the last byte of the request: from when it is handed out, not when it has left. */
type Sending = { isWhole: boolean };

function answerTo(sent: ClientRequest, sending: Sending, watch: Watch): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  watch.over(sent);
  sent.once('response', (answer) => {
    watch.over(answer);
    // What the server did not want to read is not sent any more.
    answer.once('close', () => sent.writableFinished || sent.destroy());
    resolve(answer);
  });
  sent.on('error', (error) => {
    reject(new Lost(error, sending.isWhole && !isNeverConnected(error)));
  });
  return promise;
}

/** Sends the body until the answer comes; resolves to what went wrong with reading it, if anything did. */
async function deliver(
  sent: ClientRequest,
  { body, onSent, watch }: Exchange,
  sending: Sending,
  answered: Promise<unknown>,
  asksFirst: boolean,
): Promise<unknown> {
  if (!body) {
    sent.end();
    return undefined;
  }
  let isOver = false;
  const over = answered.then(
    () => undefined,
    () => undefined,
  );
  void over.then(() => {
    isOver = true;
  });
  if (asksFirst) await Promise.race([askFirst(sent, Math.min(CONTINUE_PATIENCE, watch.limit / 2)), over]);
  try {
    let count = 0;
    for await (const piece of body.pieces()) {
      if (isOver) return undefined;
      sending.isWhole = count + piece.length >= body.length;
      if (!sent.write(piece)) await Promise.race([drained(sent), over]);
      count += piece.length;
      watch.movedOn();
      onSent?.(count);
    }
    if (!isOver) sent.end();
    return undefined;
  } catch (error) {
    return error ?? new Error('The body could not be read.');
  }
}

async function askFirst(sent: ClientRequest, patience: number): Promise<void> {
  const continued = new Promise<void>((resolve) => sent.once('continue', resolve));
  sent.flushHeaders();
  await connected(sent);
  const over = new Promise<void>((resolve) => clock.setTimeout(() => resolve(), patience).unref());
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

function isNeverConnected({ syscall, code = '' }: NodeJS.ErrnoException): boolean {
  return syscall === 'connect' || syscall === 'getaddrinfo' || /CERT|^ERR_TLS|SELF_SIGNED|VERIFY/.test(code);
}
