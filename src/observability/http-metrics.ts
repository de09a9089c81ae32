import type { HttpObserver } from '../http/http-observer.ts';
import type { SwordErrorCode } from '../sword/sword-error.ts';
import type { Metrics } from './metrics.ts';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const UPLOAD_SECONDS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1200];
/** Methods with their own label; all others are counted together, since clients can invent methods. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts requests, refusals and uploads. `errors`: all errors with their HTTP status. */
export function httpMetrics(
  metrics: Metrics,
  errors: Readonly<Record<SwordErrorCode, { readonly status: number }>>,
): HttpObserver {
  const requests = metrics.counter('http_requests_total', 'Requests that have ended', [
    'method',
    'route',
    'status',
  ]);
  const durations = metrics.histogram(
    'http_request_duration_seconds',
    'From the headers of a request to the end of its answer',
    REQUEST_SECONDS,
    ['method', 'route'],
  );
  const inFlight = metrics.gauge('http_requests_in_flight', 'Requests that have not ended yet');
  const refusals = metrics.counter('http_refusals_total', 'Answers from 400 up, by their SWORD error', [
    'error',
    'status',
  ]);
  const uploads = metrics.counter('uploads_total', 'Archives that were sent, by outcome', ['outcome']);
  const uploadBytes = metrics.counter('upload_received_bytes_total', 'Bytes of archives received');
  const uploadDurations = metrics.histogram(
    'upload_duration_seconds',
    'From the first byte of an archive until it is stored or refused; mostly the time that its sender needs',
    UPLOAD_SECONDS,
  );
  // A counter that appears with its first event shows no increase.
  for (const [error, { status }] of Object.entries(errors)) refusals.inc({ error, status }, 0);
  for (const outcome of ['stored', 'refused', 'broken_off', 'failed'] as const) uploads.inc({ outcome }, 0);
  return {
    began: () => inFlight.inc(),
    ended: ({ method: sent, route, status, seconds }) => {
      const method = METHODS.has(sent) ? sent : 'other';
      inFlight.dec();
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    refused: (error) => refusals.inc({ error, status: errors[error].status }),
    uploaded: ({ outcome, bytes, seconds }) => {
      uploads.inc({ outcome });
      uploadBytes.inc(bytes);
      uploadDurations.observe(seconds);
    },
  };
}
