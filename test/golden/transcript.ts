import http from 'node:http';
import type { Exchange } from './exchanges.ts';

const PASSWORDS = { alice: 'alice:secret', bob: 'bob:secret', wrong: 'alice:wrong' } as const;

/**
 * Sends requests and records requests and answers, byte for byte. Values that do not come from our clock are replaced
 * by a name: the Date header of Node, and UUIDs, numbered in the order in which clients see them.
 */
export class Transcript {
  readonly #url: string;
  readonly #uuids: string[] = [];
  #upload = '';
  readonly #parts: string[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  get text(): string {
    return this.#parts.join('\n');
  }

  async add({ title, method, path, as = 'alice', headers = {}, body }: Exchange): Promise<void> {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.#addressed(value)]),
    );
    const answer = await this.#answer(method, this.#addressed(path), as, sent, body);
    const asked = [
      `${method} ${path} (${as})`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    const lines = [`# ${title}`, ...asked.map((line) => `> ${line}`), ...answer];
    this.#parts.push(`${this.#masked(lines.join('\n'))}\n`);
  }

  /** Resolves to the lines of the answer: status, headers as they came, body. */
  async #answer(
    method: string,
    path: string,
    as: NonNullable<Exchange['as']>,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer | undefined,
  ): Promise<string[]> {
    const authorization =
      as === 'nobody' ? {} : { Authorization: `Basic ${Buffer.from(PASSWORDS[as]).toString('base64')}` };
    const length =
      body === undefined && method !== 'POST' ? {} : { 'Content-Length': Buffer.byteLength(body ?? '') };
    const request = http.request(`${this.#url}${path}`, {
      method,
      agent: false,
      headers: {
        Host: 'deposit.example',
        ...authorization,
        ...length,
        ...latin1(headers),
        Connection: 'close',
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
    const response = await promise;
    const chunks = await response.toArray();
    const { rawHeaders, statusCode, statusMessage } = response;
    this.#upload = /\/uploads\/([^/]+)/.exec(response.headers.location ?? '')?.[1] ?? this.#upload;
    const names = rawHeaders.filter((_, index) => index % 2 === 0);
    const lines = names.map(
      (name, index) => `${name}: ${name === 'Date' ? '<date>' : rawHeaders[2 * index + 1]}`,
    );
    const bytes = Buffer.concat(chunks);
    return [`< ${statusCode} ${statusMessage}`, ...lines.map((line) => `< ${line}`), ...shown(bytes)];
  }

  #masked(text: string): string {
    return text.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, (uuid) => {
      if (!this.#uuids.includes(uuid)) this.#uuids.push(uuid);
      return `<uuid-${this.#uuids.indexOf(uuid) + 1}>`;
    });
  }

  #addressed(text: string): string {
    return text.replace('<upload>', this.#upload);
  }
}

function latin1(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]),
  );
}

/** Returns a text unchanged, and bytes in base64. */
function shown(bytes: Buffer): string[] {
  if (bytes.length === 0) return [];
  const text = bytes.toString();
  return [
    '',
    Buffer.from(text).equals(bytes) && !text.includes('\0') ? text : `base64 ${bytes.toString('base64')}`,
  ];
}
