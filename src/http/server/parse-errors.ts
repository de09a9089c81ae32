import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, checksumMismatch, SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import { type ErrorOptions, errorBody } from '../middleware/answer-errors.ts';
import { httpVersionNotSupported, targetTooLong } from '../middleware/request-target.ts';
import { dropWithinLimits } from './drain-request.ts';
import { HeadOverflow } from './head-overflow.ts';
import { closeIdle, type HttpSocket } from './idle-connections.ts';

/** Limits of a request's headers: bytes, and milliseconds for them to arrive. */
export type HeaderLimits = { readonly maxHeadersSize: number; readonly headersTime: number };

/** Socket with Node's parser and the request that it is reading. */
type ParsedSocket = HttpSocket & { readonly parser?: { readonly incoming?: IncomingMessage | null } | null };

/** How parse errors are answered and logged. */
export type ParseErrorOptions = ErrorOptions & { readonly logger: Pick<Logger, 'info'> };

/** Connections after a parse error, with what decides its answer if that needs later packets. */
const broken = new WeakMap<Socket, HeadOverflow | undefined>();

/**
 * Answers a request that is not valid HTTP with a SWORD error and ends the connection. After a complete request the
 * error waits for that request's response: sent first, it would be read as that response.
 */
export function answerParseError(
  error: ParseError,
  socket: Socket,
  limits: HeaderLimits,
  options: ParseErrorOptions,
): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (broken.has(socket)) broken.get(socket)?.add(packetOf(error));
  else if (!socket.writable) socket.destroy();
  else {
    broken.set(socket, undefined);
    const refuse = (answer: SwordError): void => {
      const { code, reason } = error;
      options.logger.info({ code, reason, status: answer.status }, 'request is not valid HTTP');
      answerAfterPending(socket, () => answerOnSocket(socket, answer, options));
    };
    if (error.code === 'HPE_HEADER_OVERFLOW') answerOverflow(error, socket, limits, refuse);
    else refuse(parseErrorOf(error, isInBody(socket), limits));
  }
}

/** Refuses a head that is too long, once it is known whether its target is. */
function answerOverflow(
  error: ParseError,
  socket: Socket,
  { maxHeadersSize }: HeaderLimits,
  refuse: (answer: SwordError) => void,
): void {
  const packet = packetOf(error);
  const line = requestLineIn(packet);
  const before = line ? 0 : Math.max(0, maxHeadersSize - (error.bytesParsed ?? 0));
  const overflow = new HeadOverflow(socket, before, (isTarget) =>
    refuse(isTarget ? targetTooLong() : headersTooLarge(maxHeadersSize)),
  );
  broken.set(socket, overflow);
  overflow.add(packet.subarray(line));
}

/** Returns where the target of a request that begins with the packet begins in it; 0 if none does. */
function requestLineIn(packet: Uint8Array): number {
  return /^[\r\n]*[A-Z]+ +/.exec(Buffer.from(packet.subarray(0, 64)).toString('latin1'))?.[0].length ?? 0;
}

function packetOf({ rawPacket = Buffer.alloc(0) }: ParseError): Uint8Array {
  return rawPacket;
}

function answerAfterPending(socket: ParsedSocket, answer: () => void): void {
  const first = socket._httpMessage;
  if (first?.req.complete || first?.headersSent) {
    // When the client half-closes, Node marks a response as the last one: its parser does not repeat an error.
    first.prependOnceListener('finish', () => {
      if (first.shouldKeepAlive && first.getHeader('connection') !== 'close') first._last = false;
    });
    first.once('close', () => answerAfterPending(socket, answer));
    return;
  }
  if (socket.writable) {
    // No response is pending, so the incomplete body has been answered already.
    if (!first && isInBody(socket)) socket.end();
    else answer();
  }
  dropWithinLimits(socket, () => false);
}

function isInBody({ parser }: ParsedSocket): boolean {
  return parser?.incoming?.complete === false;
}

/**
 * Refuses CONNECT. Node has detached the socket, so this handles its errors, end and idle timeout. It also forwards
 * `drain` to the responses in front of this one.
 */
export function refuseTunnel(socket: ParsedSocket, options: ErrorOptions): void {
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.on('timeout', () => closeIdle(socket));
  socket.on('drain', () => socket._httpMessage?.emit('drain'));
  const answer = new SwordError('MethodNotAllowed', 'CONNECT is not possible here.', {
    headers: { Allow: '' },
  });
  answerAfterPending(socket, () => answerOnSocket(socket, answer, options));
}

function answerOnSocket(socket: Socket, answer: SwordError, options: ErrorOptions): void {
  const body = errorBody(answer, options);
  options.observer.refused(answer.code);
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    `Date: ${clock.date().toUTCString()}`,
    'Cache-Control: no-store',
    'Content-Type: application/xml',
    'X-Content-Type-Options: nosniff',
    "Content-Security-Policy: default-src 'none'",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const TWO_LENGTHS =
  'The request has both Content-Length and Transfer-Encoding: send one of them. With curl in PHP, set CURLOPT_INFILESIZE instead of a Content-Length header of your own.';

/** An error of Node's parser, which names the rule that was broken. */
type ParseError = NodeJS.ErrnoException & {
  readonly reason?: string;
  readonly rawPacket?: Uint8Array;
  readonly bytesParsed?: number;
};

function headersTooLarge(limit: number): SwordError {
  return badRequest(`The headers exceed ${limit} bytes.`, { status: 431 });
}

function parseErrorOf(
  { code, reason = '' }: ParseError,
  inBody: boolean,
  { headersTime }: HeaderLimits,
): SwordError {
  // Before the code: the parser reports a bare LF after the version as a wrong version.
  if (/expected CR(?:LF)? after/i.test(reason))
    return badRequest('A line of the request does not end with CRLF.');
  switch (code) {
    case 'HPE_INVALID_VERSION':
      return httpVersionNotSupported();
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const text = `The headers did not arrive within ${headersTime / 1000} seconds.`;
      return badRequest(text, { status: 408 });
    }
    case 'HPE_INVALID_EOF_STATE':
      return inBody
        ? checksumMismatch('The request ended before its body had the length that was declared.')
        : badRequest('The request ended before its headers did.');
    default: {
      const isTwice = /can't be present with (?:Transfer-Encoding|Content-Length)/.test(reason);
      return badRequest(isTwice ? TWO_LENGTHS : 'The request is not valid HTTP/1.1.');
    }
  }
}
