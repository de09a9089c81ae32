import { AsyncLocalStorage } from 'node:async_hooks';
import type http from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { clock } from '../../tools/clock.ts';
import { outgoing } from '../../tools/outgoing.ts';
import { notS3, refusal, S3Fault } from './fault.ts';

/** How long the store may take, in milliseconds. */
export type Timeouts = {
  /** To accept a connection. */
  readonly connect: number;
  /** Without a byte sent or received. */
  readonly idle: number;
  /** For one request and its answer; a body that is read has more, as long as it comes. */
  readonly total: number;
  /** To accept connections again after it refused them, as a server does that restarts. */
  readonly restart: number;
};

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 5_000, idle: 30_000, total: 300_000, restart: 8_000 };

/** Bytes a millisecond of an object that the store copies, or puts together from parts, at least. */
const COPIED_BYTES_PER_MS = 2000;

type OnResponse = (response: IncomingMessage) => void;

/** Only so much of an answer is read to find the code in it. */
const ERROR_BYTES = 64 * 1024;

/** Sends what minio asks to be sent: within the time limits, and refusing answers that minio takes for good. */
export class TimedTransport {
  readonly #timeouts: Timeouts;
  readonly agent: http.Agent;
  readonly #silentWork = new AsyncLocalStorage<number>();
  #closed = false;

  constructor(tls: boolean, timeouts: Timeouts) {
    this.#timeouts = timeouts;
    this.agent = outgoing.agent(tls, { keepAlive: true, maxFreeSockets: 16 });
  }

  // minio calls it with options and a listener only, never with a URL.
  readonly request = ((options: RequestOptions, onResponse: OnResponse): ClientRequest => {
    if (this.#closed) throw new S3Fault('Closed', 'this service has closed it');
    const request = outgoing.request(options);
    const release = this.#limit(request, options);
    request.once('response', (response) => {
      if (isObjectBody(options, response)) release();
      if (isBelievable(response, options)) onResponse(response);
      else void faultIn(response).then((fault) => request.emit('error', fault));
    });
    return request;
  }) as typeof http.request;

  /** Makes requests for which the store works on this many bytes before it answers: their time depends on that. */
  workingOn<T>(bytes: number, requests: () => Promise<T>): Promise<T> {
    return this.#silentWork.run(this.#timeouts.idle + Math.ceil(bytes / COPIED_BYTES_PER_MS), requests);
  }

  /** Cuts what is under way, also what is read, and sends nothing any more. */
  close(): void {
    this.#closed = true;
    this.agent.destroy();
  }

  /** Ends the request when it takes too long; the function it gives lifts the limits. */
  #limit(request: ClientRequest, options: RequestOptions): () => void {
    const { connect } = this.#timeouts;
    const silent = isSilentWork(options) ? this.#silentWork.getStore() : undefined;
    const { idle, total } = silent === undefined ? this.#timeouts : { idle: silent, total: silent };
    let atWork: { destroy(error: Error): unknown } = request;
    const end = (what: string, limit: number) => {
      atWork.destroy(new S3Fault('Silent', `it did not ${what} within ${limit} ms`));
    };
    const timer = clock.setTimeout(end, total, 'finish', total);
    request.setTimeout(idle, () => end('answer', idle));
    request.once('socket', (socket) => {
      if (!socket.connecting) return;
      const connecting = clock.setTimeout(end, connect, 'accept a connection', connect);
      socket.once('connect', () => clock.clearTimeout(connecting));
      socket.once('close', () => clock.clearTimeout(connecting));
    });
    request.once('response', (response) => {
      atWork = response;
    });
    request.once('close', () => clock.clearTimeout(timer));
    return () => {
      clock.clearTimeout(timer);
      request.setTimeout(0);
    };
  }
}

/** Whoever reads the body of an object sets the pace. */
function isObjectBody({ method, path }: RequestOptions, { statusCode }: IncomingMessage): boolean {
  return method === 'GET' && !path?.includes('?') && (statusCode === 200 || statusCode === 206);
}

/** Copying an object and putting one together from its parts takes the store time in which it says nothing. */
function isSilentWork({ method, path, headers }: RequestOptions): boolean {
  const copies = headers !== undefined && 'x-amz-copy-source' in headers;
  return copies || (method === 'POST' && path?.includes('uploadId=') === true);
}

/**
 * minio takes a web page for an answer, forgets answers with these statuses without reading them, and does not look
 * for the header in which MinIO says why it refuses a HEAD.
 */
function isBelievable(response: IncomingMessage, { method }: RequestOptions): boolean {
  const { statusCode = 0 } = response;
  const isForgotten = statusCode >= 500 || [408, 429, 499].includes(statusCode);
  const isRefusedHead = method === 'HEAD' && statusCode >= 400;
  return !isForgotten && !isRefusedHead && !isPage(response);
}

/** OpenStack Swift calls it text/html where it answers nothing. */
function isPage({ statusCode, headers }: IncomingMessage): boolean {
  const isEmpty = statusCode === 204 || headers['content-length'] === '0';
  return !isEmpty && headers['content-type']?.startsWith('text/html') === true;
}

async function faultIn(response: IncomingMessage): Promise<S3Fault> {
  const { statusCode = 0 } = response;
  const text = await beginningOf(response);
  // Passing, since Swift answers a write so that crosses a later one of the same key, and leaves it undone.
  if (statusCode < 300) return notS3('a web page', { passing: true });
  const { 'x-minio-error-code': header } = response.headers;
  const code = typeof header === 'string' && /^\w+$/.test(header) ? header : undefined;
  return refusal(statusCode, code ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1]);
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('latin1')) {
      text += String(chunk);
      if (text.length > ERROR_BYTES) break;
    }
  } catch {
    // What came is enough: it only tells why the store refused.
  }
  return text;
}
