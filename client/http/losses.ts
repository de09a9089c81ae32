import { Unreachable } from '../faults.ts';
import type { Answer } from './answer.ts';
import type { Lost } from './exchange.ts';

/** Nobody knows whether what was asked for has been done. */
export class Unsure extends Unreachable {}

/** Answers of a server, or of a proxy before it, that time heals. */
export function isPassing({ status }: Pick<Answer, 'status'>): boolean {
  return [502, 503, 504].includes(status);
}

const PASSING_LOSSES = new Set([
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

/** Whether trying again makes sense. */
export function isPassingLoss({ code }: Lost): boolean {
  return PASSING_LOSSES.has(code);
}

/** `Retry-After` as seconds; a date is not worth the trouble. */
export function secondsIn(headers: Answer['headers']): number {
  const seconds = Number(headers['retry-after'] ?? 0);
  return Number.isFinite(seconds) ? seconds : 0;
}

export function unreachable(url: URL, error: Lost): Unreachable {
  if (error.code === 'EPROTO')
    return new Unreachable(`The server at ${url.origin} does not speak TLS there.`, error);
  const what = error.code.startsWith('HPE_') ? 'does not speak HTTP there' : 'cannot be reached';
  return new Unreachable(`The server at ${url.origin} ${what}: ${reasonOfLoss(error)}.`, error);
}

export function unsure(url: URL, error: Lost): Unsure {
  const text = `The connection to ${url.host} was lost before the answer came (${reasonOfLoss(error)}): what was sent may have been recorded, or not.`;
  return new Unsure(text, error);
}

/** A name that has several addresses gives an error for each. */
export function reasonOfLoss({ cause, message, code }: Lost): string {
  const [first] = cause instanceof AggregateError ? (cause.errors as Error[]) : [];
  return first?.message ?? (message || code);
}
