import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, SwordError } from '../../sword/sword-error.ts';
import { type ErrorOptions, errorBody } from '../answering/answer-errors.ts';
import { boundDropping, closeIdle, type HttpSocket } from './connection-ends.ts';

/** Bytes of the headers of a request, and milliseconds for them to arrive. */
export type HeaderLimits = { readonly maxHeadersSize: number; readonly headersTime: number };

/** With the request that is being read, which Node keeps there. */
type ParsedSocket = HttpSocket & {
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
};

/** Connections on which nothing is understood any more. */
const broken = new WeakSet<Socket>();

/**
 * What is no HTTP gets a SWORD error, too, and the connection ends. What comes behind a whole request is the next one,
 * and is answered behind it: in front of its answer the error would be taken for that.
 */
export function answerParseError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  limits: HeaderLimits,
  options: ErrorOptions,
): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (broken.has(socket))
    return; // more of the same
  else if (!socket.writable) socket.destroy();
  else {
    broken.add(socket);
    const answer = parseErrorOf(error.code, isInBody(socket), limits);
    answerInTurn(socket, () => answerOnSocket(socket, answer, options));
  }
}

function answerInTurn(socket: ParsedSocket, answer: () => void): void {
  const first = socket._httpMessage;
  if (first?.req.complete || first?.headersSent) {
    first.once('close', () => answerInTurn(socket, answer));
    return;
  }
  if (socket.writable) {
    // Without an answer to come, a body that has not ended has been answered already.
    if (!first && isInBody(socket)) socket.end();
    else answer();
  }
  boundDropping(socket, () => false);
}

function isInBody({ parser }: ParsedSocket): boolean {
  return parser?.incoming?.complete === false;
}

type SocketAnswer = readonly [statusLine: string, answer: SwordError];

const NO_PROXY: SocketAnswer = [
  '405 Method Not Allowed',
  new SwordError('MethodNotAllowed', 'CONNECT is not possible here.', { headers: { Allow: '' } }),
];

/**
 * For a socket that Node has let go of: nobody else hears its errors, closes it, also when nothing moves on it any more, or
 * tells the answers in front of this one that they may go on.
 */
export function refuseTunnel(socket: ParsedSocket, options: ErrorOptions): void {
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.on('timeout', () => closeIdle(socket));
  socket.on('drain', () => socket._httpMessage?.emit('drain'));
  answerInTurn(socket, () => answerOnSocket(socket, NO_PROXY, options));
}

function answerOnSocket(socket: Socket, [status, answer]: SocketAnswer, options: ErrorOptions): void {
  const body = errorBody(answer, options);
  options.observer.refused(answer.code);
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/xml',
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function parseErrorOf(
  code: string | undefined,
  inBody: boolean,
  { maxHeadersSize, headersTime }: HeaderLimits,
): SocketAnswer {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        badRequest(`The headers exceed ${maxHeadersSize} bytes.`),
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [
        '408 Request Timeout',
        badRequest(`The headers did not arrive within ${headersTime / 1000} seconds.`),
      ];
    case 'HPE_INVALID_EOF_STATE': {
      if (!inBody) return ['400 Bad Request', badRequest('The request ended before its headers did.')];
      const text = 'The request ended before its body had the length that was declared.';
      return ['412 Precondition Failed', new SwordError('ErrorChecksumMismatch', text)];
    }
    default:
      return ['400 Bad Request', badRequest('The request is not valid HTTP/1.1.')];
  }
}
