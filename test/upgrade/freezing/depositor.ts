import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../../../testing/http/deposit-bodies.ts';
import type { FrozenDeposit } from '../expected.ts';
import type { Site } from './site.ts';

export const PASSWORD = 'secret of the frozen data';

type Headers = Record<string, string>;
type Body = string | Uint8Array | null;

/** A client that deposits, by HTTP. Every deposit gets a label, by which tests find it again. */
export class Depositor {
  readonly name: string;
  readonly #site: Site;
  readonly #made: FrozenDeposit[];

  /** Each deposit is added to `made`. */
  constructor(site: Site, name: string, made: FrozenDeposit[]) {
    this.#site = site;
    this.name = name;
    this.#made = made;
  }

  /** @throws if the answer is a refusal */
  async send(method: string, path: string, body: Body = null, headers: Headers = {}): Promise<Response> {
    const authorization = `Basic ${Buffer.from(`${this.name}:${PASSWORD}`).toString('base64')}`;
    const answer = await fetch(new URL(path, this.#site.url), {
      method,
      body: typeof body === 'string' || body === null ? body : new Uint8Array(body),
      headers: { Authorization: authorization, ...headers },
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  /** Makes a deposit of one archive and an entry, in one request. */
  whole(label: string, archive: Uint8Array, entry = entryOf(label), options: Options = {}): Promise<number> {
    const { collection = 'software', isPartial = false, headers = {} } = options;
    const form = formOf([archivePart(Buffer.from(archive), `${label}.zip`), entryPart(entry)]);
    return this.#create(label, collection, form, {
      ...formType,
      ...(isPartial ? partial : final),
      ...headers,
    });
  }

  /** Makes a partial deposit of an archive. */
  ofArchive(label: string, archive: Uint8Array, type = 'application/zip'): Promise<number> {
    return this.#create(label, 'software', archive, { ...archiveHeaders(`${label}.tar`, type), ...partial });
  }

  /** Makes a deposit of an entry alone. */
  ofEntry(label: string, entry: string, progress: Headers, collection = 'software'): Promise<number> {
    return this.#create(label, collection, entry, { ...entryHeaders(), ...progress });
  }

  /** Adds an entry to a partial deposit and completes it. */
  async complete(id: number, entry: string): Promise<void> {
    await this.send('POST', `/1/software/${id}/metadata/`, entry, { ...entryHeaders(), ...final });
  }

  async status(id: number, collection = 'software'): Promise<StatusDocument> {
    const answer = await this.send('GET', `/1/${collection}/${id}/status/`, null, JSON_ACCEPTED);
    return (await answer.json()) as StatusDocument;
  }

  /** Resolves to the status document once the deposit is in this state. */
  async reached(id: number, wanted: string, collection = 'software'): Promise<StatusDocument> {
    for (;;) {
      const status = await this.status(id, collection);
      if (status.deposit_status === wanted) return status;
      if (/^(done|rejected|failed)$/.test(status.deposit_status)) {
        throw new Error(`Deposit ${id} is ${status.deposit_status}, not ${wanted}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #create(label: string, collection: string, body: Body, headers: Headers): Promise<number> {
    const answer = await this.send('POST', `/1/${collection}/`, body, headers);
    const depositId = Number(/<deposit_id>(\d+)</.exec(await answer.text())?.[1]);
    this.#made.push({ label, depositId, client: this.name, collection });
    return depositId;
  }
}

type Options = { readonly collection?: string; readonly isPartial?: boolean; readonly headers?: Headers };

export type StatusDocument = {
  readonly deposit_status: string;
  readonly deposit_swh_id?: string;
  readonly deposit_swh_id_context?: string;
};

export const JSON_ACCEPTED = { Accept: 'application/json' };

/** Returns an entry that passes the checks of a client without a domain. */
export function entryOf(title: string, more = ''): string {
  const facts =
    '<codemeta:version>1.2</codemeta:version><codemeta:datePublished>2025-03-01</codemeta:datePublished>';
  return entryXml(`<title>${title}</title><author><name>Ada Lovelace</name></author>${facts}${more}`);
}
