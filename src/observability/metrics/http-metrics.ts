import type { EndedRequest, EndedUpload, HttpObserver } from '../../http/middleware/http-observer.ts';
import { errorStatus, swordErrorCodes } from '../../sword/documents/error-document.ts';
import type { SwordErrorCode } from '../../sword/sword-error.ts';
import type { Instruments } from './instruments.ts';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const UPLOAD_SECONDS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1200];
/** Methods with their own label; all others are counted together, since clients can invent methods. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts requests, refusals and uploads. */
export class HttpMetrics implements HttpObserver {
  readonly #requests;
  readonly #durations;
  readonly #inFlight;
  readonly #refusals;
  readonly #uploads;
  readonly #uploadBytes;
  readonly #uploadDurations;

  constructor(make: Instruments) {
    this.#requests = make.counter('http_requests_total', 'Requests that have ended', [
      'method',
      'route',
      'status',
    ]);
    this.#durations = make.histogram(
      'http_request_duration_seconds',
      'From the headers of a request to the end of its answer',
      REQUEST_SECONDS,
      ['method', 'route'],
    );
    this.#inFlight = make.gauge('http_requests_in_flight', 'Requests that have not ended yet');
    this.#refusals = make.counter('http_refusals_total', 'Answers from 400 up, by their SWORD error', [
      'error',
      'status',
    ]);
    this.#uploads = make.counter('uploads_total', 'Archives that were sent, by what became of them', [
      'outcome',
    ]);
    this.#uploadBytes = make.counter('upload_received_bytes_total', 'Bytes of archives that were taken in');
    this.#uploadDurations = make.histogram(
      'upload_duration_seconds',
      'From the first byte of an archive until it is stored or refused; mostly the time its sender needs',
      UPLOAD_SECONDS,
    );
    // A counter that appears with its first event shows no increase.
    for (const error of swordErrorCodes) this.#refusals.inc({ error, status: errorStatus(error) }, 0);
    for (const outcome of ['stored', 'refused', 'broken_off', 'failed'] as const)
      this.#uploads.inc({ outcome }, 0);
  }

  began(): void {
    this.#inFlight.inc();
  }

  ended({ method: sent, route, status, seconds }: EndedRequest): void {
    const method = METHODS.has(sent) ? sent : 'other';
    this.#inFlight.dec();
    this.#requests.inc({ method, route, status });
    this.#durations.observe({ method, route }, seconds);
  }

  refused(error: SwordErrorCode): void {
    this.#refusals.inc({ error, status: errorStatus(error) });
  }

  uploaded({ outcome, bytes, seconds }: EndedUpload): void {
    this.#uploads.inc({ outcome });
    this.#uploadBytes.inc(bytes);
    this.#uploadDurations.observe(seconds);
  }
}
