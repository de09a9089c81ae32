import { parsedBody } from '../../testing/documents/parsed-body.ts';
import { md5Of } from '../../testing/http/deposit-bodies.ts';
import type { Account } from './account.ts';
import { Httplib2 } from './httplib2.ts';

/** The result of its parser: elements by their names as they are written, the root being `entry`. */
type Read = Readonly<Record<string, string>>;

/** invenio-swh (2023), from its source: IRIs made from the COL-IRI and `deposit_id`, through the httplib2 of sword2. */
export class InvenioRdm implements Disposable {
  readonly #http: Httplib2;
  readonly #collectionIri: string;

  static async for(account: Account, collectionIri: string): Promise<InvenioRdm> {
    return new InvenioRdm(await Httplib2.for(account), collectionIri);
  }

  private constructor(http: Httplib2, collectionIri: string) {
    this.#http = http;
    this.#collectionIri = collectionIri;
  }

  createDeposit(entry: string): Promise<Read> {
    const headers = [
      ['content-type', 'application/atom+xml;type=entry'],
      ['in-progress', 'true'],
      ['content-length', String(Buffer.byteLength(entry))],
    ] as const;
    return this.#asked('POST', this.#collectionIri, headers, entry);
  }

  updateDepositFiles(id: string, filename: string, file: Buffer): Promise<Read> {
    const headers = [
      ['content-type', 'application/zip'],
      ['content-md5', md5Of(file)],
      ['content-length', String(file.length)],
      ['content-disposition', `attachment; filename=${filename}`],
      ['in-progress', 'true'],
      ['packaging', 'http://purl.org/net/sword/package/SimpleZip'],
    ] as const;
    return this.#asked('PUT', this.#iri(id, 'media'), headers, file);
  }

  /** Sends no body, but the type of an entry. */
  completeDeposit(id: string): Promise<Read> {
    const headers = [
      ['content-type', 'application/atom+xml;type=entry'],
      ['in-progress', 'false'],
      ['content-length', '0'],
    ] as const;
    return this.#asked('POST', this.#iri(id, 'metadata'), headers);
  }

  getDepositStatus(id: string): Promise<Read> {
    return this.#asked('GET', this.#iri(id, 'status'), []);
  }

  [Symbol.dispose](): void {
    this.#http[Symbol.dispose]();
  }

  #iri(id: string, suffix: string): string {
    return new URL(`${id}/${suffix}/`, this.#collectionIri).href;
  }

  /** @throws answers that it regards as a failure, from 300 up. */
  async #asked(...request: Parameters<Httplib2['request']>): Promise<Read> {
    const { status, body } = await this.#http.request(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} was answered ${status}: ${body}`);
    if (body === '') return {};
    const entry = parsedBody(body);
    if (entry.qname !== 'entry') throw new Error(`The root is ${entry.qname}.`);
    return Object.fromEntries(entry.children.map(({ qname, text }) => [qname, text]));
  }
}
