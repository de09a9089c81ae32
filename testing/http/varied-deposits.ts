import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';

/** A client that may deposit in a collection. */
export type Depositor = { readonly url: string; readonly collection: string; readonly authorization: string };

/** Returns bytes that were not used before. */
export type Bytes = (length: number) => Buffer;

/**
 * Makes deposits of different kinds, one after the other: archives of three formats, small ones and large ones that
 * are stored as files, several archives, replaced ones, and deposits that stay partial, are rejected or deleted.
 */
export async function makeDeposits(depositor: Depositor, count: number, bytes: Bytes): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const kind = KINDS[number % KINDS.length] as Kind; // there are some
    await kind(new Depositing(depositor), bytes);
  }
}

type Kind = (to: Depositing, bytes: Bytes) => Promise<unknown>;

const KINDS: readonly Kind[] = [
  async (to, bytes) => to.create({ archive: await tar(bytes(50)), entry }),
  async (to, bytes) => to.create({ archive: gzipSync(await tar(bytes(80_000))), entry }),
  async (to, bytes) => to.create({ archive: await zip(bytes(500)), type: 'application/zip', entry }),
  async (to, bytes) => {
    const edit = await to.create({ archive: await tar(bytes(3000)), isPartial: true });
    await to.send('POST', edit.replace(/metadata\/$/, 'media/'), await tar(bytes(100_000), 'more.txt'), TAR);
    await to.send('POST', edit, entry, { ...ENTRY, 'In-Progress': 'false' });
  },
  async (to, bytes) => {
    const edit = await to.create({ archive: await tar(bytes(20)), isPartial: true });
    await to.send('PUT', edit.replace(/metadata\/$/, 'media/'), await tar(bytes(40)), TAR);
    await to.send('POST', edit, entry, { ...ENTRY, 'In-Progress': 'false' });
  },
  (to) => to.create({ entry, isPartial: true }),
  async (to, bytes) => to.create({ archive: await tar(bytes(1000)) }),
  async (to, bytes) => {
    const edit = await to.create({ archive: await tar(bytes(2000)), isPartial: true });
    await to.send('DELETE', edit);
  },
];

const TAR = {
  'Content-Type': 'application/x-tar',
  'Content-Disposition': 'attachment; filename=a.tar',
  'In-Progress': 'true',
};
const ENTRY = { 'Content-Type': 'application/atom+xml;type=entry' };

const entry =
  '<entry xmlns="http://www.w3.org/2005/Atom"><title>Drill “é”</title><author><name>Drill</name></author></entry>';

type Creation = {
  readonly archive?: Buffer;
  readonly type?: string;
  readonly entry?: string;
  readonly isPartial?: boolean;
};

class Depositing {
  readonly #depositor: Depositor;

  constructor(depositor: Depositor) {
    this.#depositor = depositor;
  }

  /** Resolves to the Edit-IRI. */
  async create({ archive, type = 'application/x-tar', entry, isPartial = false }: Creation): Promise<string> {
    const target = `${this.#depositor.url}/1/${this.#depositor.collection}/`;
    const progress = { 'In-Progress': String(isPartial) };
    if (!archive) return editIri(await this.send('POST', target, entry, { ...ENTRY, ...progress }));
    if (entry === undefined) {
      const headers = { ...TAR, 'Content-Type': type, ...progress };
      return editIri(await this.send('POST', target, archive, headers));
    }
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(archive)], { type }), 'a.tar');
    form.append('atom', new Blob([entry], { type: 'application/atom+xml' }), 'entry.xml');
    return editIri(await this.send('POST', target, form, progress));
  }

  async send(
    method: string,
    target: string,
    body: NonNullable<RequestInit['body']> | Buffer | null = null,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const authorization = { Authorization: this.#depositor.authorization };
    const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body;
    const answer = await fetch(target, { method, body: sent, headers: { ...authorization, ...headers } });
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}

function editIri(answer: Response): string {
  const location = answer.headers.get('location') ?? '';
  if (!location.endsWith('/metadata/')) throw new Error(`No Edit-IRI: ${location}`);
  return location;
}

async function tar(data: Buffer, name = 'a.txt'): Promise<Buffer> {
  const packing = pack();
  packing.entry({ name: `drill/${name}` }, data);
  packing.finalize();
  return buffer(packing);
}

async function zip(data: Buffer): Promise<Buffer> {
  const file = new ZipFile();
  file.addBuffer(data, 'drill/a.bin');
  file.end();
  return buffer(file.outputStream);
}
