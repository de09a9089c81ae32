import { ATOM, type Parsed, parsedBody } from '../../testing/documents/parsed-body.ts';
import { md5Of } from '../../testing/http/deposit-bodies.ts';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { type RelatedBody, swordClients } from '../../testing/http/sword-clients.ts';
import type { Account } from './account.ts';
import { Httplib2 } from './httplib2.ts';

/** IRIs for the next requests of the library. */
export type PythonReceipt = {
  readonly edit: string;
  readonly editMedia: string;
  readonly seIri: string;
  readonly alternate: string;
  readonly atomStatement: string;
};

export type File = { readonly filename: string; readonly mimetype: string; readonly payload: Buffer };

const FEED = 'application/atom+xml;type=feed';

/** python-client-sword2 0.2.1 over httplib2, from its source. */
export class PythonSword2 implements Disposable {
  readonly http: Httplib2;

  static async for(account: Account): Promise<PythonSword2> {
    return new PythonSword2(await Httplib2.for(account));
  }

  private constructor(http: Httplib2) {
    this.http = http;
  }

  get(iri: string): Promise<RawAnswer> {
    return this.http.request('GET', iri, []);
  }

  create(colIri: string, entry: string, { filename, payload }: File): Promise<RawAnswer> {
    const related = swordClients['second Python client']({ entry, archive: payload, filename });
    return this.#multipart('POST', colIri, related, 'true');
  }

  /** `update` with metadata and a file. */
  replace(editIri: string, entry: string, { filename, payload }: File): Promise<RawAnswer> {
    const related = swordClients['second Python client']({ entry, archive: payload, filename });
    return this.#multipart('PUT', editIri, related, 'true');
  }

  /** `append` or `add_file_to_resource`, depending on the IRI. */
  addFile(iri: string, { filename, mimetype, payload }: File): Promise<RawAnswer> {
    const headers = [
      ['in-progress', 'true'],
      ['content-type', mimetype],
      ['content-md5', md5Of(payload)],
      ['content-length', String(payload.length)],
      ['content-disposition', `attachment; filename=${encodeURIComponent(filename)}`],
      ['packaging', 'http://purl.org/net/sword/package/SimpleZip'],
    ] as const;
    return this.http.request('POST', iri, headers, payload);
  }

  /** `append` with metadata alone. */
  addMetadata(seIri: string, entry: string): Promise<RawAnswer> {
    const headers = [
      ['in-progress', 'true'],
      ['content-type', 'application/atom+xml; type=entry'],
      ['content-length', String(Buffer.byteLength(entry))],
    ] as const;
    return this.http.request('POST', seIri, headers, Buffer.from(entry));
  }

  completeDeposit(seIri: string): Promise<RawAnswer> {
    const headers = [
      ['in-progress', 'false'],
      ['content-length', '0'],
    ] as const;
    return this.http.request('POST', seIri, headers);
  }

  deleteContainer(editIri: string): Promise<RawAnswer> {
    return this.http.request('DELETE', editIri, [['in-progress', 'false']]);
  }

  getAtomStatement(iri: string): Promise<RawAnswer> {
    return this.http.request('GET', iri, [['accept', FEED]]);
  }

  [Symbol.dispose](): void {
    this.http[Symbol.dispose]();
  }

  #multipart(
    method: string,
    iri: string,
    { contentType, body }: RelatedBody,
    inProgress: string,
  ): Promise<RawAnswer> {
    const headers = [
      ['in-progress', inProgress],
      ['content-type', contentType],
      ['content-length', String(body.length)],
    ] as const;
    return this.http.request(method, iri, headers, body);
  }
}

/** Reads a receipt like the library: the last link of a relation wins, and `edit-media` has no type. */
export function readByPython(body: string): PythonReceipt {
  const links = parsedBody(body).children.filter(({ name }) => name === `${ATOM}link`);
  const href = (rel: string, isIt: (link: Parsed) => boolean = () => true): string => {
    const found = links.filter((link) => link.attributes['rel'] === rel && isIt(link)).at(-1);
    if (!found) throw new Error(`The receipt has no link ${rel}.`);
    return found.attributes['href'] ?? '';
  };
  const typed = (type: string | undefined) => (link: Parsed) => link.attributes['type'] === type;
  return {
    edit: href('edit'),
    editMedia: href('edit-media', typed(undefined)),
    seIri: href('http://purl.org/net/sword/terms/add'),
    alternate: href('alternate'),
    atomStatement: href('http://purl.org/net/sword/terms/statement', typed(FEED)),
  };
}
