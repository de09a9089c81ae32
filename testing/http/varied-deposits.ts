import { gzipSync } from 'node:zlib';
import { tarOf, zipOf } from '../archives/archive-builders.ts';
import {
  ATOM_TYPE,
  archiveHeaders,
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from './deposit-bodies.ts';
import type { TestClient } from './test-client.ts';

/** Returns bytes that were not used before. */
export type Bytes = (length: number) => Buffer;

/**
 * Makes deposits of different kinds, one after the other: archives of three formats, small ones and large ones that
 * are stored as files, several archives, replaced ones, and deposits that stay partial, are rejected or deleted.
 */
export async function makeDeposits(
  client: TestClient,
  collection: string,
  count: number,
  bytes: Bytes,
): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const kind = KINDS[number % KINDS.length] as Kind; // there are some
    await kind(new Depositing(client, collection), bytes);
  }
}

type Kind = (to: Depositing, bytes: Bytes) => Promise<unknown>;

const TAR = archiveHeaders('a.tar', 'application/x-tar');
const ENTRY = { 'Content-Type': ATOM_TYPE };
const entry = entryXml('<title>Drill “é”</title><author><name>Drill</name></author>');

const KINDS: readonly Kind[] = [
  (to, bytes) => to.createWhole(tar(bytes(50))),
  (to, bytes) => to.createWhole(gzipSync(tar(bytes(80_000)))),
  (to, bytes) => to.createWhole(zipOf([{ name: 'drill/a.bin', data: bytes(500) }]), 'application/zip'),
  async (to, bytes) => {
    const edit = await to.create(tar(bytes(3000)), { ...TAR, ...partial });
    await to.send('POST', mediaIri(edit), tar(bytes(100_000), 'more.txt'), { ...TAR, ...partial });
    await to.send('POST', edit, entry, { ...ENTRY, ...final });
  },
  async (to, bytes) => {
    const edit = await to.create(tar(bytes(20)), { ...TAR, ...partial });
    await to.send('PUT', mediaIri(edit), tar(bytes(40)), { ...TAR, ...partial });
    await to.send('POST', edit, entry, { ...ENTRY, ...final });
  },
  (to) => to.create(entry, { ...ENTRY, ...partial }),
  (to, bytes) => to.create(tar(bytes(1000)), { ...TAR, ...final }),
  async (to, bytes) => to.send('DELETE', await to.create(tar(bytes(2000)), { ...TAR, ...partial })),
];

class Depositing {
  readonly #client: TestClient;
  readonly #collection: string;

  constructor(client: TestClient, collection: string) {
    this.#client = client;
    this.#collection = collection;
  }

  /** Sends archive and entry in one form. */
  createWhole(archive: Buffer, type = 'application/x-tar'): Promise<string> {
    const form = formOf([archivePart(archive, 'a.tar', type), entryPart(entry)]);
    return this.create(form, { ...formType, ...final });
  }

  /** Resolves to the Edit-IRI. */
  async create(body: Buffer | string, headers: Record<string, string>): Promise<string> {
    const answer = await this.send('POST', `/1/${this.#collection}/`, body, headers);
    const location = answer.headers.get('location') ?? '';
    if (!location.endsWith('/metadata/')) throw new Error(`No Edit-IRI: ${location}`);
    return location;
  }

  async send(
    method: string,
    target: string,
    body: Buffer | string | null = null,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body;
    const answer = await this.#client.send(method, target, { body: sent, headers });
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}

function mediaIri(edit: string): string {
  return edit.replace(/metadata\/$/, 'media/');
}

function tar(data: Buffer, name = 'a.txt'): Buffer {
  return tarOf([{ name: `drill/${name}`, data }]);
}
