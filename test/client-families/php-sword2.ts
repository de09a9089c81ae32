import { ATOM, parsedBody } from '../../testing/documents/parsed-body.ts';
import { md5Of } from '../../testing/http/deposit-bodies.ts';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { askAlone, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { swordClients } from '../../testing/http/sword-clients.ts';
import { type Account, basic, hostOf } from './account.ts';

type Headers = RawRequest['headers'];

export type PhpReceipt = { readonly edit: string; readonly editMedia: string; readonly se: string };

const USER_AGENT = ['User-Agent', 'SWORDAPP PHP v2 library (version 0.1) http://php.swordapp.org/'] as const;
const ENTRY = ['Content-Type', 'application/atom+xml;type=entry'] as const;

/**
 * swordappv2-php-library 1.0 from its source, over libcurl before 7.66: a POST has the length that the library sets,
 * and waits for `100 Continue`, since libcurl does not know it.
 */
export class PhpSword2 {
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }

  servicedocument(iri: string): Promise<RawAnswer> {
    return this.#ask('GET', iri, [USER_AGENT]);
  }

  /** `deposit`, and `addExtraPackage` at the SE-IRI. */
  deposit(iri: string, filename: string, file: Buffer): Promise<RawAnswer> {
    return this.#post(iri, binaryHeaders(filename, file), file);
  }

  depositMultipart(iri: string, entry: string, file: Buffer): Promise<RawAnswer> {
    const deposited = { entry, archive: file, filename: 'package.zip' };
    const { contentType, body } = swordClients['PHP client'](deposited);
    const headers = [
      ['In-Progress', 'true'],
      ['Content-Type', contentType],
      ['Content-Length', String(body.length)],
    ] as const;
    return this.#post(iri, headers, body);
  }

  replaceMetadata(iri: string, entry: string): Promise<RawAnswer> {
    const length = ['Content-Length', String(Buffer.byteLength(entry))] as const;
    const headers: Headers = [USER_AGENT, ENTRY, ['In-Progress', 'true'], length, ['Expect', '100-continue']];
    return this.#ask('PUT', iri, headers, Buffer.from(entry));
  }

  /** libcurl adds the type of an empty form. */
  completeIncompleteDeposit(iri: string): Promise<RawAnswer> {
    const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
    const headers: Headers = [USER_AGENT, ['Content-Length', '0'], ['In-Progress', 'false'], form];
    return this.#post(iri, headers, '');
  }

  retrieveContent(iri: string, packaging: string): Promise<RawAnswer> {
    return this.#ask('GET', iri, [USER_AGENT, ['Accept-Packaging', packaging]]);
  }

  /** Sends over a libcurl from 7.66 on, which adds chunks to the length. */
  depositInChunksWithLength(iri: string, filename: string, file: Buffer): Promise<RawAnswer> {
    const headers: Headers = [['Transfer-Encoding', 'chunked'], ...binaryHeaders(filename, file)];
    return this.#post(iri, headers, `${file.length.toString(16)}\r\n${file.toString('latin1')}\r\n0\r\n\r\n`);
  }

  #post(iri: string, headers: Headers, body: string | Buffer): Promise<RawAnswer> {
    return this.#ask('POST', iri, [...headers, ['Expect', '100-continue']], body);
  }

  #ask(method: string, iri: string, headers: Headers, body?: string | Buffer): Promise<RawAnswer> {
    const first = [
      ['Host', hostOf(this.#account)],
      ['Authorization', basic(this.#account)],
      ['Accept', '*/*'],
    ] as const;
    return askAlone({ method, iri, headers: [...first, ...headers], ...(body !== undefined && { body }) });
  }
}

function binaryHeaders(filename: string, file: Buffer): Headers {
  return [
    USER_AGENT,
    ['Content-MD5', md5Of(file)],
    ['Packaging', 'http://purl.org/net/sword/package/SimpleZip'],
    ['Content-Type', 'application/zip'],
    ['Content-Length', String(file.length)],
    ['In-Progress', 'true'],
    ['Content-Disposition', `attachment; filename=${filename}`],
  ];
}

/** Reads a receipt like the library: the last `edit-media` that is no feed. */
export function readByPhp(body: string): PhpReceipt {
  const receipt: Record<string, string> = {};
  for (const { name, attributes } of parsedBody(body).children) {
    if (name === `${ATOM}link` && attributes['type'] !== 'application/atom+xml;type=feed')
      receipt[attributes['rel'] ?? ''] = attributes['href'] ?? '';
  }
  const { edit = '', 'edit-media': editMedia = '' } = receipt;
  return { edit, editMedia, se: receipt['http://purl.org/net/sword/terms/add'] ?? '' };
}
