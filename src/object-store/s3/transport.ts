import { AsyncLocalStorage } from 'node:async_hooks';
import type http from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { clock } from '../../tools/clock.ts';
import { outgoing } from '../../tools/outgoing.ts';
import { notS3, PASSING_STATUSES, refusal, S3Fault } from './s3-errors.ts';

/** Time limits of the store, in milliseconds. */
export type Timeouts = {
  /** Time limit to accept a connection. */
  readonly connect: number;
  /** Time limit without a byte sent or received. */
  readonly idle: number;
  /** Time limit of one request and its answer; reading a body may take longer while bytes arrive. */
  readonly total: number;
  /** Time limit to accept connections again after a refusal, as during a restart. */
  readonly restart: number;
};

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 5_000, idle: 30_000, total: 300_000, restart: 8_000 };

/** Minimum rate in bytes per millisecond at which the store copies an object, or completes one from parts. */
const COPIED_BYTES_PER_MS = 2000;

type OnResponse = (response: IncomingMessage) => void;

/** Maximum number of bytes of an answer that are read to find its error code. */
const ERROR_BYTES = 64 * 1024;

/**
 * Maximum number of bytes of an answer that is no object. A list of 1,000 keys may have 5 MB: each has up to 1,024 bytes,
 * percent-encoded, a version of 1,024, and some 600 more.
 */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

/** Sends the requests of minio within time limits, and rejects answers that minio would accept by mistake. */
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
      else limitLength(response);
      if (isWellFormedResponse(response, options)) onResponse(response);
      else void faultIn(response).then((fault) => request.emit('error', fault));
    });
    return request;
  }) as typeof http.request;

  /**
   * Makes requests for which the store processes this many bytes before it answers: their time limit depends on that.
   */
  workingOn<T>(bytes: number, requests: () => Promise<T>): Promise<T> {
    return this.#silentWork.run(this.#timeouts.idle + Math.ceil(bytes / COPIED_BYTES_PER_MS), requests);
  }

  /** Cancels requests and reads in flight, and refuses further requests. */
  close(): void {
    this.#closed = true;
    this.agent.destroy();
  }

  /** Ends the request when it exceeds its time limits. Returns a function that lifts the limits. */
  #limit(request: ClientRequest, options: RequestOptions): () => void {
    const { connect } = this.#timeouts;
    const silent = isLongRunning(options) ? this.#silentWork.getStore() : undefined;
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

/** Whether the answer is the body of an object; its reader sets the pace. */
function isObjectBody({ method, path }: RequestOptions, { statusCode }: IncomingMessage): boolean {
  return method === 'GET' && !path?.includes('?') && (statusCode === 200 || statusCode === 206);
}

/** Ends an answer that is too long: minio collects answers in memory. Counting begins when minio reads. */
function limitLength(response: IncomingMessage): void {
  let length = 0;
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) response.destroy(notS3(`more than ${MAX_ANSWER_BYTES} bytes`));
  };
  response.on('newListener', function onListener(event) {
    if (event !== 'data') return;
    response.off('newListener', onListener);
    response.on('data', count);
  });
}

/** Whether the store answers the request only after long work: copying an object, or completing one from its parts. */
function isLongRunning({ method, path, headers }: RequestOptions): boolean {
  const copies = headers !== undefined && 'x-amz-copy-source' in headers;
  return copies || (method === 'POST' && path?.includes('uploadId=') === true);
}

/**
 * Whether minio would handle the answer correctly. It accepts a web page as an answer, ignores answers with these
 * statuses without reading them, and ignores the header in which MinIO says why it refuses a HEAD.
 */
function isWellFormedResponse(response: IncomingMessage, { method }: RequestOptions): boolean {
  const { statusCode = 0 } = response;
  const isForgotten = statusCode >= 500 || PASSING_STATUSES.has(statusCode);
  const isRefusedHead = method === 'HEAD' && statusCode >= 400;
  return !isForgotten && !isRefusedHead && !isPage(response);
}

/** Whether the answer is a web page. OpenStack Swift sends text/html for empty answers, too. */
function isPage({ statusCode, headers }: IncomingMessage): boolean {
  const isEmpty = statusCode === 204 || headers['content-length'] === '0';
  return !isEmpty && headers['content-type']?.startsWith('text/html') === true;
}

export async function faultIn(response: IncomingMessage): Promise<S3Fault> {
  const { statusCode = 0 } = response;
  const text = await beginningOf(response);
  // Transient, since Swift answers so to a write that overlaps a later one of the same key, and does not
  // perform it.
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
    // The part that was read is sufficient: it only explains the refusal.
  }
  return text;
}
