import { hash } from 'node:crypto';
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { authorization } from './s3-signature.ts';

export type S3Address = {
  readonly endpoint: { readonly host: string; readonly port: number; readonly tls: boolean };
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
};

export type S3Request = {
  readonly method?: string;
  readonly query?: string;
  readonly body?: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds by which the clock of the client is fast. */
  readonly fast?: number;
  readonly unsigned?: boolean;
};

export type S3Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the connection ended before the body did. */
  readonly isCut: boolean;
  /** The code of S3 in the body of an error. */
  readonly code: string | undefined;
};

/** Sends one signed request as given, and returns the answer unchanged. */
export class S3Client {
  readonly #address: S3Address;

  constructor(address: S3Address) {
    this.#address = address;
  }

  /** Returns a client that signs with other keys, or for another region. */
  with(changes: Partial<S3Address>): S3Client {
    return new S3Client({ ...this.#address, ...changes });
  }

  /** `path`: bucket and key, without a slash before. */
  async send(path: string, request: S3Request = {}): Promise<S3Answer> {
    const { method = 'GET', query = '', fast = 0, unsigned = false } = request;
    const { endpoint } = this.#address;
    const body = Buffer.from(request.body ?? '');
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const url = `/${encoded}${query === '' ? '' : `?${query}`}`;
    const signed = {
      host: `${endpoint.host}:${endpoint.port}`,
      'x-amz-content-sha256': hash('sha256', body),
      'x-amz-date': new Date(Date.now() + fast).toISOString().replace(/[-:]|\.\d+/g, ''),
      ...request.headers,
    };
    const keys = unsigned
      ? {}
      : { authorization: authorization({ method, url, headers: signed }, this.#address) };
    const length = method === 'PUT' || method === 'POST' ? { 'content-length': body.length } : {};
    const { host, port } = endpoint;
    const transport = endpoint.tls ? https : http;
    const sent = transport.request({
      host,
      port,
      method,
      path: url,
      headers: { ...signed, ...keys, ...length },
    });
    sent.end(body);
    return answerTo(sent);
  }
}

async function answerTo(sent: http.ClientRequest): Promise<S3Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  sent.once('response', resolve).on('error', reject);
  const response = await promise;
  const chunks: Buffer[] = [];
  let isCut = false;
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    isCut = true;
  }
  const body = Buffer.concat(chunks);
  const code = /<Error>.*<Code>(\w+)<\/Code>/s.exec(body.toString('latin1'))?.[1];
  return { status: response.statusCode ?? 0, headers: response.headers, body, isCut, code };
}
