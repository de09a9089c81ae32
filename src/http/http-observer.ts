import type { SwordErrorCode } from '../sword/sword-error.ts';

/** Observer of HTTP traffic, for metrics. */
export interface HttpObserver {
  /** A request arrived; {@link ended} always follows. */
  began(): void;
  ended(request: EndedRequest): void;
  /** A response from 400 up was made, even if no request could be parsed. */
  refused(code: SwordErrorCode): void;
  /** An archive was received, or receiving it failed. */
  uploaded(upload: EndedUpload): void;
}

type EndedRequest = {
  readonly method: string;
  /** Pattern of the path; `none` when no route matched. */
  readonly route: string;
  /** Status of the response; `none` when the connection was gone before it. */
  readonly status: number | 'none';
  readonly seconds: number;
};

export type EndedUpload = {
  /** How receiving ended: `broken_off` by the client, `failed` by an error of the service. */
  readonly outcome: 'stored' | 'refused' | 'broken_off' | 'failed';
  /** Number of bytes accepted. */
  readonly bytes: number;
  readonly seconds: number;
};
