import { ATOM, parsedBody } from '../../testing/documents/parsed-body.ts';
import { md5Of } from '../../testing/http/deposit-bodies.ts';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { RawConversation, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { type Account, basic, hostOf } from './account.ts';

type Headers = RawRequest['headers'];

export type JavaReceipt = { readonly edit: string; readonly editMedia: string; readonly statement: string };

const USER_AGENT = ['User-Agent', 'SWORD Client 2.0'] as const;
const ENTRY_TYPE = 'application/atom+xml;type=entry';
const PACKAGING = 'http://purl.org/net/sword/package/SimpleZip';
const CONTENT_ID = 'f2d1a2f4-8f5b-4b9a-9d5e-0a3b1c2d4e5f';
const BOUNDARY = '1322665823214';

/**
 * JavaClient2.0 0.9.4 over Abdera 1.1.1 and commons-httpclient 3.1, from their sources: each request is first sent
 * without credentials, and every body waits for `100 Continue`.
 */
export class JavaSword2 {
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }

  get(iri: string, headers: Headers = []): Promise<RawAnswer> {
    return this.#ask('GET', iri, [...headers, USER_AGENT]);
  }

  /**
   * Sends both parts, in chunks, the archive in base64 without declaring it. It is read in blocks of 1,024 bytes, each
   * of which is sent whole, also the last.
   */
  depositMultipart(colIri: string, entry: string, filename: string, file: Buffer): Promise<RawAnswer> {
    const lines = [
      `--${BOUNDARY}`,
      `Content-Type: ${ENTRY_TYPE}`,
      'Content-Disposition: attachment; name="atom"',
      '',
      withContent(entry),
      `--${BOUNDARY}`,
      'Content-Type: application/x-tar',
      `Content-Disposition: attachment; name="payload"; filename="${filename}"`,
      `Content-ID: <${CONTENT_ID}>`,
      `Content-MD5: ${md5Of(file)}`,
      `Packaging: ${PACKAGING}`,
      '',
      ...(inWholeBlocks(file)
        .toString('base64')
        .match(/.{1,76}/g) ?? []),
      '',
      `--${BOUNDARY}--`,
    ];
    const type = `multipart/related; boundary="${BOUNDARY}";type="${ENTRY_TYPE}"`;
    const headers: Headers = [['In-Progress', 'true'], USER_AGENT];
    const last: Headers = [
      ['Transfer-Encoding', 'chunked'],
      ['Content-Type', type],
    ];
    return this.#ask('POST', colIri, headers, last, chunked(Buffer.from(lines.join('\r\n'), 'latin1')));
  }

  /** Sends to the Edit-IRI. */
  addToContainer(editIri: string, filename: string, file: Buffer): Promise<RawAnswer> {
    return this.#binary('POST', editIri, [['In-Progress', 'true']], filename, file);
  }

  addToMediaResource(editMediaIri: string, filename: string, file: Buffer): Promise<RawAnswer> {
    return this.#binary('POST', editMediaIri, [['Metadata-Relevant', 'false']], filename, file);
  }

  replaceMedia(editMediaIri: string, filename: string, file: Buffer): Promise<RawAnswer> {
    return this.#binary('PUT', editMediaIri, [['Metadata-Relevant', 'false']], filename, file);
  }

  complete(editIri: string): Promise<RawAnswer> {
    return this.#ask('POST', editIri, [['In-Progress', 'false'], USER_AGENT], [['Content-Length', '0']], '');
  }

  #binary(method: string, iri: string, own: Headers, filename: string, file: Buffer): Promise<RawAnswer> {
    const headers: Headers = [
      ...own,
      ['Content-MD5', md5Of(file)],
      ['Packaging', PACKAGING],
      ['Content-Disposition', `attachment; filename=${filename}`],
      USER_AGENT,
    ];
    const last: Headers = [
      ['Content-Length', String(file.length)],
      ['Content-Type', 'application/zip'],
    ];
    return this.#ask(method, iri, headers, last, file);
  }

  /** Repeats a request that was refused without credentials, on the same connection unless that was closed. */
  async #ask(
    method: string,
    iri: string,
    own: Headers,
    last: Headers = [],
    body?: string | Buffer,
  ): Promise<RawAnswer> {
    const host = ['Host', hostOf(this.#account)] as const;
    const expect: Headers = body === undefined ? [] : [['Expect', '100-continue']];
    const sent = { method, iri, ...(body !== undefined && { body }) };
    const ask = (conversation: RawConversation, authorization: Headers) =>
      conversation.ask({ ...sent, headers: [...own, ...authorization, host, ...expect, ...last] });
    using first = await RawConversation.with(iri);
    const challenge = await ask(first, []);
    if (challenge.status !== 401) return challenge;
    const credentials = [['Authorization', basic(this.#account)]] as const;
    if (!/^connection: close$/im.test(challenge.head)) return await ask(first, credentials);
    using second = await RawConversation.with(iri);
    return await ask(second, credentials);
  }
}

/** Adds the library's reference from the entry to its media part. */
function withContent(entry: string): string {
  const content = `<content type="application/x-tar" src="cid:${CONTENT_ID}"/>`;
  return entry.replace('</entry>', `${content}</entry>`);
}

/** Pads the last block with the bytes that the block before has left. */
function inWholeBlocks(file: Buffer): Buffer {
  const end = Math.ceil(file.length / 1024) * 1024;
  const stale = file.subarray(file.length - 1024, end - 1024);
  return Buffer.concat([file, file.length < 1024 ? Buffer.alloc(end - file.length) : stale]);
}

/** Encodes chunks of 2,048 bytes, as commons-httpclient writes them. */
function chunked(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += 2048) {
    const chunk = body.subarray(at, at + 2048);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

/** Reads a receipt like the library: the first link of a relation, a Statement by its media type. */
export function readByJava(body: string): JavaReceipt {
  const links = parsedBody(body).children.filter(({ name }) => name === `${ATOM}link`);
  const href = (rel: string, type?: string): string =>
    links.find(({ attributes }) => attributes['rel'] === rel && (!type || attributes['type'] === type))
      ?.attributes['href'] ?? '';
  return {
    edit: href('edit'),
    editMedia: href('edit-media'),
    statement: href('http://purl.org/net/sword/terms/statement', 'application/rdf+xml'),
  };
}
