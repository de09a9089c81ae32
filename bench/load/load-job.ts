/** What a load generator is asked to do. */
export type LoadJob = {
  readonly url: string;
  /** Connections, each with one request under way at a time. */
  readonly clients: number;
  readonly request: LoadRequest;
  /** Whichever is reached first. */
  readonly seconds: number;
  readonly requests?: number;
  /** Requests a second of all clients together, as far as they are answered in time; as many as possible without. */
  readonly rate?: number;
};

export type LoadRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The body is sent so many times over, as one. */
  readonly times?: number;
  /** Where eight digits of the body are replaced, so that no two requests have the same one. */
  readonly varyAt?: readonly number[];
  /** With the MD5 of the body, which is computed before the clock starts. */
  readonly md5?: boolean;
  readonly status: number;
};

export type LoadReport = {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds from the first byte sent to the last one received. */
  readonly median: number;
  readonly p99: number;
  /** Sum of the milliseconds of all requests. */
  readonly busy: number;
};
