import type { SwordErrorCode } from '../sword/sword-error.ts';

/** Is told what passes over HTTP: for those who count. */
export interface HttpObserver {
  /** A request has come; {@link ended} follows, whatever happens. */
  began(): void;
  ended(request: EndedRequest): void;
  /** An answer from 400 up was made, also where no request could be read. */
  refused(code: SwordErrorCode): void;
  /** An archive has been received, or not. */
  uploaded(upload: EndedUpload): void;
}

export type EndedRequest = {
  readonly method: string;
  /** The pattern of the path; `none` when it came to no route. */
  readonly route: string;
  /** `none` when the connection was gone before the answer. */
  readonly status: number | 'none';
  readonly seconds: number;
};

export type EndedUpload = {
  /** Broken off by the client; failed for a fault of ours. */
  readonly outcome: 'stored' | 'refused' | 'broken_off' | 'failed';
  /** That were taken. */
  readonly bytes: number;
  readonly seconds: number;
};
