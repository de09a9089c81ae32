import { until } from '../processes/until.ts';

/** A client over HTTP; paths are relative to the service, absolute IRIs are used unchanged. */
export class TestClient {
  readonly url: string;
  readonly name: string;
  readonly authorization: string;

  constructor(url: string, name: string, password = 'secret') {
    this.url = url;
    this.name = name;
    this.authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  }

  /** Returns the same client for the present address of the service. */
  at(url: string): TestClient {
    const [, password = ''] = Buffer.from(this.authorization.slice('Basic '.length), 'base64')
      .toString()
      .split(':');
    return new TestClient(url, this.name, password);
  }

  send(method: string, target: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      Authorization: this.authorization,
      ...(init.headers as Record<string, string> | undefined),
    };
    return fetch(new URL(target, this.url), { redirect: 'manual', ...init, method, headers });
  }

  get(target: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send('GET', target, { headers });
  }

  post(
    target: string,
    body: NonNullable<RequestInit['body']> | null,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.send('POST', target, { body, headers });
  }

  put(
    target: string,
    body: NonNullable<RequestInit['body']> | null,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.send('PUT', target, { body, headers });
  }

  delete(target: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send('DELETE', target, { headers });
  }

  /** Polls the status of the deposit until one of these words comes; resolves to the last answer's body. */
  async waitFor(statusIri: string, ...final: readonly string[]): Promise<string> {
    let body = '';
    await until(async () => {
      const answer = await this.get(statusIri);
      body = await answer.text();
      return final.some((status) => body.includes(`<deposit_status>${status}</deposit_status>`));
    });
    return body;
  }
}
