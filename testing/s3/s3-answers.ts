import type { IncomingMessage, ServerResponse } from 'node:http';
import type { S3Bucket } from './s3-bucket.ts';
import type { S3Refusal } from './s3-refusal.ts';

/** Selects the behaviour of a server when stores differ. */
export type S3Kind = 'minio' | 'aws' | 'swift';

/** One request and what is needed to answer it. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly bucketName: string;
  readonly key: string;
  readonly kind: S3Kind;
  /** Whether bodies may differ from the digest with which their request is signed. */
  readonly ignoresDigests: boolean;
  /** Folder of the bodies. */
  readonly folder: string;
  readonly buckets: ReadonlyMap<string, S3Bucket>;
};

type Answered = Pick<Exchange, 'request' | 'response' | 'kind'>;

/** Sends an answer. One without a body has no type; OpenStack Swift sends text/html. */
export function respond(
  { response, kind }: Answered,
  status: number,
  xml = '',
  headers: Readonly<Record<string, string>> = {},
): void {
  const empty = kind === 'swift' ? { 'content-type': 'text/html; charset=UTF-8' } : {};
  const type = xml === '' ? empty : { 'content-type': 'application/xml' };
  const length = status === 204 && kind !== 'swift' ? {} : { 'content-length': Buffer.byteLength(xml) };
  response.writeHead(status, { ...headers, ...type, ...length });
  response.end(xml);
}

/** Sends a refusal. A HEAD has no body: MinIO gives the reason in headers, but not that the clocks differ. */
export function refuse(exchange: Answered, { status, code, headers }: S3Refusal): void {
  exchange.request.resume(); // the rest of the request is read, so that the client reads the answer
  const isHead = exchange.request.method === 'HEAD';
  const isSilent = exchange.kind !== 'minio' || code === 'RequestTimeTooSkewed';
  const why = isHead && !isSilent ? { 'x-minio-error-code': code, 'x-minio-error-desc': `"${code}"` } : {};
  const body = isHead ? '' : xmlOf(tag('Error', tag('Code', code) + tag('Message', 'refused')));
  respond(exchange, status, body, { ...headers, ...why });
}

export function xmlOf(document: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document}`;
}

/** Returns an element; for names and values that need no escaping. */
export function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

export function quoted(etag: string): string {
  return `&#34;${etag}&#34;`;
}
