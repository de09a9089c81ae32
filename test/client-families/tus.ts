import { createHash } from 'node:crypto';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { askAlone, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { type Account, basic, hostOf } from './account.ts';

type Headers = RawRequest['headers'];

const VERSION = ['Tus-Resumable', '1.0.0'] as const;
const PIECE = ['Content-Type', 'application/offset+octet-stream'] as const;

/** tus 1.0 as captured from tus-js-client 4.3.1 over `node:http`; a chunk with a checksum as tuspy 1.0 spells it. */
export class Tus {
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }

  create(endpoint: string, length: number, metadata: Readonly<Record<string, string>>): Promise<RawAnswer> {
    const pairs = Object.entries(metadata).map(([k, v]) => `${k} ${Buffer.from(v).toString('base64')}`);
    const headers = [
      ['Upload-Length', String(length)],
      ['Upload-Metadata', pairs.join(',')],
    ] as const;
    return this.#ask('POST', endpoint, headers, '');
  }

  /** Resolves to the offset to continue from. */
  async offset(upload: string): Promise<number> {
    const { head } = await this.#ask('HEAD', upload, []);
    return Number(/^upload-offset: (\d+)$/im.exec(head)?.[1]);
  }

  patch(upload: string, offset: number, piece: Buffer): Promise<RawAnswer> {
    return this.#ask('PATCH', upload, [['Upload-Offset', String(offset)], PIECE], piece);
  }

  patchWithChecksum(upload: string, offset: number, piece: Buffer): Promise<RawAnswer> {
    const checksum = `sha1 ${createHash('sha1').update(piece).digest('base64')}`;
    const headers = [['upload-offset', String(offset)], PIECE, ['upload-checksum', checksum]] as const;
    return this.#ask('PATCH', upload, headers, piece);
  }

  /** Sends the request after the protocol: a deposit of the upload. */
  deposit(colIri: string, upload: string): Promise<RawAnswer> {
    const headers = [
      ['Upload', upload],
      ['In-Progress', 'true'],
    ] as const;
    return this.#ask('POST', colIri, headers, '');
  }

  #ask(method: string, iri: string, own: Headers, body?: string | Buffer): Promise<RawAnswer> {
    const length: Headers = body === undefined ? [] : [['Content-Length', String(body.length)]];
    const isPiece = length.length > 0 && body !== '';
    const headers: Headers = [
      VERSION,
      ['Authorization', basic(this.#account)],
      ...own,
      ...(isPiece ? length : []),
      ['Host', hostOf(this.#account)],
      ['Connection', 'keep-alive'],
      ...(isPiece ? [] : length),
    ];
    return askAlone({ method, iri, headers, ...(body !== undefined && { body }) });
  }
}
