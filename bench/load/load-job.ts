/** A job for a load generator. */
export type LoadJob = {
  readonly url: string;
  /** Connections, each with one request at a time. */
  readonly clients: number;
  readonly request: LoadRequest;
  /** The job ends at the limit that is reached first. */
  readonly seconds: number;
  readonly requests?: number;
  /** Requests per second of all clients together, if they are answered in time; without it, as many as possible. */
  readonly rate?: number;
};

export type LoadRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Number of copies of the body that are sent as one body. */
  readonly times?: number;
  /** Offsets of eight digits of the body that are replaced, so that no two requests have the same body. */
  readonly varyAt?: readonly number[];
  /** Whether to send the MD5 of the body, which is computed before the clock starts. */
  readonly md5?: boolean;
  readonly status: number;
};

export type LoadReport = {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly median: number;
  readonly p99: number;
  /** Sum of the milliseconds of all requests. */
  readonly busy: number;
};
