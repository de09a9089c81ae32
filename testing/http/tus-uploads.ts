import { createHash } from 'node:crypto';
import type { TestClient } from './test-client.ts';

export const TUS = { 'Tus-Resumable': '1.0.0' } as const;

export type Body = NonNullable<RequestInit['body']>;
type Headers = Record<string, string>;

/** Sends the requests of a client of the protocol. */
export class TusUploads {
  readonly #client: TestClient;
  readonly #collection: string;

  constructor(client: TestClient, collection = 'software') {
    this.#client = client;
    this.#collection = collection;
  }

  create(length: number, headers: Headers = {}): Promise<Response> {
    return this.#client.post(`/1/${this.#collection}/uploads/`, null, {
      ...TUS,
      'Upload-Length': String(length),
      ...headers,
    });
  }

  /** Resolves to the IRI of a new upload. */
  async begin(length: number, headers: Headers = {}): Promise<string> {
    const answer = await this.create(length, headers);
    const location = answer.headers.get('location');
    if (answer.status !== 201 || location === null)
      throw new Error(`${answer.status}: ${await answer.text()}`);
    return location;
  }

  patch(upload: string, offset: number, body: Body, headers: Headers = {}): Promise<Response> {
    return this.#client.send('PATCH', upload, { body, headers: { ...pieceHeaders(offset), ...headers } });
  }

  head(upload: string): Promise<Response> {
    return this.#client.send('HEAD', upload, { headers: TUS });
  }

  /** Resolves to `NaN` if there is no such upload. */
  async offset(upload: string): Promise<number> {
    const answer = await this.head(upload);
    return Number(answer.headers.get('upload-offset') ?? Number.NaN);
  }

  delete(upload: string): Promise<Response> {
    return this.#client.delete(upload, TUS);
  }

  /** Resolves to the IRI of a complete upload. */
  async whole(bytes: Buffer, headers: Headers = {}): Promise<string> {
    const upload = await this.begin(bytes.length, headers);
    const answer = await this.patch(upload, 0, new Uint8Array(bytes));
    if (answer.status !== 204) throw new Error(`${answer.status}: ${await answer.text()}`);
    return upload;
  }
}

export function pieceHeaders(offset: number): Headers {
  return { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) };
}

export function metadataOf(values: Readonly<Record<string, string>>): Headers {
  const base64 = (value: string): string => Buffer.from(value).toString('base64');
  const pairs = Object.entries(values).map(([key, value]) => `${key} ${base64(value)}`.trim());
  return { 'Upload-Metadata': pairs.join(',') };
}

export function checksumOf(algorithm: string, bytes: Uint8Array): Headers {
  return { 'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}` };
}
