import { clock } from '../../src/tools/clock.ts';
import { Unreachable } from '../faults.ts';
import type { Answer } from './answer.ts';
import type { Lost } from './exchange.ts';

/** The outcome of a request is unknown. */
export class Unsure extends Unreachable {}

/** Whether the status is temporary, of a server or of a proxy. After 408 the request did not arrive whole. */
export function isTransient({ status }: Pick<Answer, 'status'>): boolean {
  return [408, 429, 502, 503, 504].includes(status);
}

const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'IDLE',
]);

/** Whether a retry may succeed. */
export function isTransientLoss({ code }: Lost): boolean {
  return TRANSIENT_CODES.has(code);
}

/** Returns `Retry-After`, a number or a date by the clock of the server, in seconds from now; 0 for other values. */
export function secondsIn(headers: Answer['headers']): number {
  const text = headers['retry-after'] ?? '';
  const seconds = /^[0-9]+$/.test(text) ? Number(text) : (Date.parse(text) - nowAtServer(headers)) / 1000;
  return Math.max(seconds, 0) || 0;
}

/** Returns the time of the answer. The clock of this machine may be wrong. */
function nowAtServer({ date = '' }: Answer['headers']): number {
  return Date.parse(date) || clock.now();
}

/** @param hint continues the message. */
export function unreachable(url: URL, error: Lost, hint = ''): Unreachable {
  if (error.code === 'EPROTO')
    return new Unreachable(`The server at ${url.origin} does not speak TLS there.`, error);
  const what = error.code.startsWith('HPE_') ? 'does not speak HTTP there' : 'cannot be reached';
  return new Unreachable(`The server at ${url.origin} ${what}: ${reasonOfLoss(error)}${hint}.`, error);
}

export function unsure(url: URL, error: Lost): Unsure {
  const text = `Connection to ${url.host} lost before the response (${reasonOfLoss(error)}). The request may or may not have been recorded.`;
  return new Unsure(text, error);
}

/** Returns the message of the error; a host name with several addresses has one error for each. */
export function reasonOfLoss({ cause, message, code }: Lost): string {
  const [first] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return first?.message ?? (message || code);
}
