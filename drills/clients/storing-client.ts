import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { DRILL_PASSWORD } from '../service/drilled-service.ts';
import { newTar } from './answered-deposits.ts';

/** The content of one deposit. */
export type Sent = { readonly archive: Buffer; readonly entry: string };

/** Opens a connection for each request: the server may close an idle one while a request is sent on it. */
const OWN_CONNECTION = { Connection: 'close' };

export type Acknowledged = Sent & { readonly id: string };

/** Returns an archive and an entry that no other deposit has. */
export function newDeposit(bytes: number): Sent {
  const archive = newTar(bytes);
  const title = hash('sha256', archive);
  return { archive, entry: entryXml(`<title>${title}</title><author><name>Ada</name></author>`) };
}

/** Returns the key of the object that has these bytes, or this digest. */
export function keyOf(object: Buffer | string): string {
  const sha256 = typeof object === 'string' ? object : hash('sha256', object);
  return `v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
}

/** A client that remembers what it sent and can send it again. */
export class StoringClient {
  readonly #client: TestClient;

  /** Resolves when the node knows the client, which is registered already. */
  static async at(url: string, name: string): Promise<StoringClient> {
    const client = new TestClient(url, name, DRILL_PASSWORD);
    const knows = async () => (await (await client.get('/1/servicedocument/')).text()).includes('/1/drill/');
    while (!(await knows())) await pause(50);
    return new StoringClient(client);
  }

  private constructor(client: TestClient) {
    this.#client = client;
  }

  /** Deposits by one request, repeated after each 503. @throws any other answer than 201 and 503 */
  async deposit(sent: Sent): Promise<Acknowledged> {
    const parts = [archivePart(sent.archive, 'a.tar', 'application/x-tar'), entryPart(sent.entry)];
    const body = new Uint8Array(formOf(parts));
    for (;;) {
      const answer = await this.#client.post('/1/drill/', body, { ...formType, ...final, ...OWN_CONNECTION });
      const text = await answer.text();
      if (answer.status === 201) return { ...sent, id: /<deposit_id>(\d+)</.exec(text)?.[1] ?? '' };
      if (answer.status !== 503) throw new Error(`A create was answered ${answer.status}: ${text}`);
      await pause(250);
    }
  }

  /** Resolves to the status of a deposit and its detail. */
  async status(id: string): Promise<{ readonly status: string; readonly detail: string }> {
    const text = await (await this.#client.get(`/1/drill/${id}/status/`, OWN_CONNECTION)).text();
    return {
      status: /<deposit_status>(\w+)</.exec(text)?.[1] ?? 'none',
      detail: /<deposit_status_detail>([^<]+)</.exec(text)?.[1] ?? '',
    };
  }
}
