import http from 'node:http';
import type { TestClient } from '../../testing/http/test-client.ts';
import { pieceHeaders, TusUploads } from '../../testing/http/tus-uploads.ts';

/** Milliseconds between two parts of a slow chunk. */
const PART_EVERY = 100;

/** Two uploads by tus: one with half of its bytes, one that receives a slow chunk when the signal comes. */
export class UploadsUnderWay {
  readonly #uploads: TusUploads;
  readonly #client: TestClient;
  readonly #waiting: string;
  readonly #dripping: string;

  static async begin(client: TestClient): Promise<UploadsUnderWay> {
    const uploads = new TusUploads(client, 'drill');
    const [waiting, dripping] = [await uploads.begin(100_000), await uploads.begin(1_000_000)];
    const half = await uploads.patch(waiting, 0, new Uint8Array(50_000));
    if (half.status !== 204) throw new Error(`A chunk was answered ${half.status}.`);
    return new UploadsUnderWay(client, uploads, waiting, dripping);
  }

  private constructor(client: TestClient, uploads: TusUploads, waiting: string, dripping: string) {
    this.#client = client;
    this.#uploads = uploads;
    this.#waiting = waiting;
    this.#dripping = dripping;
  }

  /** Resolves when the connection has ended, in whatever way. */
  async drip(): Promise<void> {
    const headers = { ...pieceHeaders(0), 'Content-Length': 1_000_000 };
    const request = bareRequest(this.#client, 'PATCH', this.#dripping, headers);
    const closed = new Promise((resolve) => request.once('close', resolve));
    request.on('error', () => request.destroy());
    request.on('response', (response) => response.resume());
    const timer = setInterval(() => request.write(Buffer.alloc(1000)), PART_EVERY);
    await closed;
    clearInterval(timer);
  }

  /** Resolves to the bytes that the restarted service does not have. */
  async faults(dripped: boolean): Promise<string[]> {
    const [waiting, dripping] = [
      await this.#uploads.offset(this.#waiting),
      await this.#uploads.offset(this.#dripping),
    ];
    await this.#uploads.delete(this.#waiting);
    await this.#uploads.delete(this.#dripping);
    const faults = waiting === 50_000 ? [] : [`An upload with 50000 bytes acknowledged is at ${waiting}.`];
    return dripping > 0 || !dripped
      ? faults
      : [...faults, `An upload to which a chunk dripped is at ${dripping}.`];
  }
}

/** Opens a separate connection, so that the body can be sent slowly. */
export function bareRequest(
  client: TestClient,
  method: string,
  target: string,
  headers: http.OutgoingHttpHeaders,
): http.ClientRequest {
  const all = { ...headers, Authorization: client.authorization };
  return http.request(new URL(target, client.url), { method, headers: all, agent: false });
}
