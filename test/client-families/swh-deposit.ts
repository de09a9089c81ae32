import { randomBytes } from 'node:crypto';
import { type Parsed, parsedBody } from '../../testing/documents/parsed-body.ts';
import { md5Of } from '../../testing/http/deposit-bodies.ts';
import type { RawAnswer } from '../../testing/http/raw-connection.ts';
import { askAlone, type RawRequest } from '../../testing/http/raw-conversation.ts';
import { type Account, basic, hostOf } from './account.ts';

export type Archive = { readonly filename: string; readonly bytes: Buffer };

/** The content of an upload; either may be missing. */
export type Upload = { readonly archive?: Archive; readonly metadata?: string };

/** A deposit to be changed: `--deposit-id`, `--replace`. */
export type Changed = { readonly id: string; readonly replace?: boolean };

type Headers = RawRequest['headers'];

/**
 * `swh deposit` 0.13 from its source, over python-requests 2.34 as captured: one connection per request, headers in
 * capitals, two of them with underscores, `True` and `False` as Python writes them, IRIs made from `deposit_id`.
 */
export class SwhDeposit {
  readonly #account: Account;
  readonly #slug: string | undefined;

  constructor(account: Account, slug?: string) {
    this.#account = account;
    this.#slug = slug;
  }

  /** Resolves to the name of the single collection. */
  async collection(): Promise<string> {
    const { body } = await this.#ask('GET', 'servicedocument/', []);
    const [workspace] = children(parsedBody(body), '{http://www.w3.org/2007/app}workspace');
    const collections = children(workspace, '{http://www.w3.org/2007/app}collection');
    const [name, ...others] = children(collections[0], '{http://purl.org/net/sword/terms/}name');
    if (!name || others.length + collections.length > 1) throw new Error(`Not one collection: ${body}`);
    return name.text;
  }

  /** `upload`, with `--partial` or without; with a deposit it changes that one, which has to be partial. */
  async upload(
    collection: string,
    { archive, metadata }: Upload,
    partial: boolean,
    changed?: Changed,
  ): Promise<RawAnswer> {
    const method = changed?.replace ? 'PUT' : 'POST';
    const inProgress = ['IN-PROGRESS', partial ? 'True' : 'False'] as const;
    const slug: Headers = this.#slug === undefined ? [] : [['SLUG', this.#slug]];
    const at = (suffix: string) => (changed ? `${collection}/${changed.id}/${suffix}/` : `${collection}/`);
    if (archive && metadata !== undefined) {
      const { type, body } = formOf(archive, metadata);
      const headers: Headers = [['CONTENT_MD5', md5Of(archive.bytes)], inProgress, ...slug];
      return this.#ask(method, at('metadata'), headers, body, [['Content-Type', type]]);
    }
    if (archive) {
      const headers: Headers = [
        ['CONTENT_MD5', md5Of(archive.bytes)],
        inProgress,
        ['CONTENT-TYPE', typeOf(archive)],
        ['CONTENT-DISPOSITION', `attachment; filename=${archive.filename}`],
        ...slug,
      ];
      return this.#ask(method, at('media'), headers, archive.bytes);
    }
    const headers: Headers = [inProgress, ['CONTENT-TYPE', 'application/atom+xml;type=entry'], ...slug];
    return this.#ask(method, at('metadata'), headers, Buffer.from(metadata ?? ''));
  }

  /** `upload --swhid` of a deposit that is done. */
  updateDone(collection: string, id: string, swhid: string, metadata: string): Promise<RawAnswer> {
    const headers = [
      ['CONTENT-TYPE', 'application/atom+xml;type=entry'],
      ['X_CHECK_SWHID', swhid],
    ] as const;
    return this.#ask('PUT', `${collection}/${id}/atom/`, headers, Buffer.from(metadata));
  }

  /** `metadata-only` */
  metadataOnly(collection: string, metadata: string): Promise<RawAnswer> {
    const type = [['CONTENT-TYPE', 'application/atom+xml;type=entry']] as const;
    return this.#ask('POST', `${collection}/`, type, Buffer.from(metadata));
  }

  status(collection: string, id: string): Promise<RawAnswer> {
    return this.#ask('GET', `${collection}/${id}/status/`, []);
  }

  #ask(method: string, target: string, own: Headers, body?: Buffer, last: Headers = []): Promise<RawAnswer> {
    const headers: Headers = [
      ['Host', hostOf(this.#account)],
      ['user-agent', 'swh-deposit/0.13.3'],
      ['Accept-Encoding', 'gzip, deflate'],
      ['Accept', '*/*'],
      ['Connection', 'keep-alive'],
      ...own,
      ...(body ? [['Content-Length', String(body.length)] as const] : []),
      ...last,
      ['Authorization', basic(this.#account)],
    ];
    return askAlone({ method, iri: `${this.#account.url}/1/${target}`, headers, ...(body && { body }) });
  }
}

/** Returns the entry that `swh deposit upload --name … --author … --create-origin …` generates. */
export function generatedEntry(origin: string): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<atom:entry xmlns:atom="http://www.w3.org/2005/Atom" xmlns:codemeta="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0" xmlns:swh="https://www.softwareheritage.org/schema/2018/deposit">',
    '\t<atom:updated>2026-03-01 10:00:00.000000+00:00</atom:updated>',
    '\t<atom:author>hal</atom:author>',
    '\t<atom:title>Hello</atom:title>',
    '\t<codemeta:name>Hello</codemeta:name>',
    '\t<codemeta:author>\n\t\t<codemeta:name>Ada</codemeta:name>\n\t</codemeta:author>',
    `\t<swh:create_origin>\n\t\t<swh:origin url="${origin}"></swh:origin>\n\t</swh:create_origin>`,
    '</atom:entry>',
  ].join('\n');
}

/** Reads an answer like releases up to 2020: elements without prefix. */
export function readUnprefixed(body: string): Readonly<Record<string, string>> {
  const entry = parsedBody(body);
  return Object.fromEntries(entry.children.map(({ qname, text }) => [qname, text]));
}

/** Reads an answer like releases since then: elements of the deposit namespace, each at most once. */
export function readNamespaced(body: string): Readonly<Record<string, string>> {
  const namespace = '{https://www.softwareheritage.org/schema/2018/deposit}';
  const own = parsedBody(body).children.filter(({ name }) => name.startsWith(namespace));
  const read = Object.fromEntries(own.map(({ name, text }) => [name.slice(namespace.length), text]));
  if (Object.keys(read).length !== own.length) throw new Error(`An element comes twice: ${body}`);
  return read;
}

/** Returns the type for the file name, as the client does it. */
function typeOf({ filename }: Archive): string {
  return filename.split('.').at(-1)?.includes('zip') ? 'application/zip' : 'application/x-tar';
}

/** Encodes a form like urllib3. */
function formOf(archive: Archive, metadata: string): { readonly type: string; readonly body: Buffer } {
  const boundary = randomBytes(16).toString('hex');
  const part = (name: string, filename: string, type: string, body: string | Buffer) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n`,
    `Content-Type: ${type}\r\n\r\n`,
    body,
    '\r\n',
  ];
  const pieces = [
    ...part('file', archive.filename, typeOf(archive), archive.bytes),
    ...part('atom', 'metadata.xml', 'application/atom+xml', metadata),
    `--${boundary}--\r\n`,
  ];
  const body = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

function children(parent: Parsed | undefined, name: string): Parsed[] {
  return parent?.children.filter((child) => child.name === name) ?? [];
}
