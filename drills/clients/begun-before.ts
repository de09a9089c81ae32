import { hash, randomUUID } from 'node:crypto';
import {
  archiveHeaders,
  entryHeaders,
  final,
  helloEntry,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { TusUploads } from '../../testing/http/tus-uploads.ts';
import { newTar } from './answered-deposits.ts';
import type { Ledger } from './watched-deposit.ts';

const BINARY = archiveHeaders('a.tar', 'application/x-tar');

/** Work that a client begins and continues later: a request to repeat, a deposit, an upload, a stream of events. */
export class BegunBefore {
  readonly #client: TestClient;
  readonly #uploads: TusUploads;
  readonly #archive: Uint8Array<ArrayBuffer>;
  readonly #key = { 'Idempotency-Key': randomUUID() };
  #upload = '';
  #first = '';
  /** Id of the deposit. */
  id = '';

  static async begin(client: TestClient, ledger: Ledger): Promise<BegunBefore> {
    const archive = newTar(10_000);
    ledger.creates.add(hash('sha256', archive));
    const begun = new BegunBefore(client, new Uint8Array(archive));
    begun.id = idIn(await begun.#create());
    begun.#upload = await begun.#uploads.begin(archive.length);
    await begun.#uploads.patch(begun.#upload, 0, begun.#archive.subarray(0, 5000));
    const [event] = await eventIds(client, undefined, 1);
    begun.#first = event ?? '';
    return begun;
  }

  private constructor(client: TestClient, archive: Uint8Array<ArrayBuffer>) {
    this.#client = client;
    this.#uploads = new TusUploads(client, 'drill');
    this.#archive = archive;
  }

  /** Continues all of it; resolves to what is wrong, a sentence each. */
  async goOn(): Promise<string[]> {
    const broken: string[] = [];
    const repeated = idIn(await this.#create());
    if (repeated !== this.id)
      broken.push(`A repeated create was answered with ${repeated} instead of ${this.id}.`);
    const offset = await this.#uploads.offset(this.#upload);
    if (offset !== 5000) broken.push(`An upload with 5000 bytes is at ${offset}.`);
    const rest = await this.#uploads.patch(this.#upload, 5000, this.#archive.subarray(5000));
    if (rest.status !== 204)
      broken.push(`The rest of an upload was answered ${rest.status}: ${await rest.text()}`);
    const target = `/1/drill/${this.id}`;
    const named = await this.#client.put(`${target}/media/`, null, { ...BINARY, Upload: this.#upload });
    if (named.status !== 204)
      broken.push(`An upload that was named was answered ${named.status}: ${await named.text()}`);
    const completed = await this.#client.post(`${target}/metadata/`, helloEntry, {
      ...entryHeaders(),
      ...final,
    });
    if (!completed.ok)
      broken.push(`A completion was answered ${completed.status}: ${await completed.text()}`);
    const status = await this.#client.get(`${target}/status/`);
    const [again, text] = [status.headers.get('retry-after'), await status.text()];
    if (again === null ? !/<deposit_status>(done|rejected)</.test(text) : !(Number(again) > 0))
      broken.push(`A status that may change came with Retry-After: ${again}.`);
    if (this.#first === '') broken.push('An event stream sent nothing.');
    else if ((await eventIds(this.#client, this.#first, 2)).length < 2)
      broken.push('A resumed event stream did not send the later events.');
    return broken;
  }

  async #create(): Promise<string> {
    const headers = { ...BINARY, ...partial, ...this.#key };
    const answer = await this.#client.post('/1/drill/', this.#archive, headers);
    return answer.text();
  }
}

/** Resolves to the ids of the first events of the collection after `after`; fewer if no more come within seconds. */
async function eventIds(client: TestClient, after: string | undefined, count: number): Promise<string[]> {
  const headers = { Accept: 'text/event-stream', ...(after !== undefined && { 'Last-Event-ID': after }) };
  const signal = AbortSignal.timeout(5000);
  const answer = await client.send('GET', '/1/drill/events/', { headers, signal });
  const ids: string[] = [];
  try {
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      ids.splice(0, ids.length, ...[...text.matchAll(/^id: ?(.+)$/gm)].map(([, id = '']) => id));
      if (ids.length >= count) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return ids;
}

function idIn(body: string): string {
  return /<deposit_id>(\d+)</.exec(body)?.[1] ?? body;
}
