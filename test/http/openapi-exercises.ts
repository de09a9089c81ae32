import type { Call, Checked } from '../../testing/documents/described-service.ts';
import {
  ATOM_TYPE,
  archiveHeaders,
  archivePart,
  entryHeaders,
  final,
  formOf,
  formType,
  helloEntry,
  helloForm,
  helloTar,
  helloZip,
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { swordClients } from '../../testing/http/sword-clients.ts';
import { checksumOf, metadataOf, pieceHeaders, TUS } from '../../testing/http/tus-uploads.ts';

/** Deposits and uploads to send requests about; each call makes a new one. */
export type World = {
  readonly collection: string;
  readonly done: { readonly deposit: number; readonly swhid: string };
  readonly partial: () => Promise<number>;
  /** Makes a partial deposit of a tar. */
  readonly tar: () => Promise<number>;
  readonly upload: () => Promise<string>;
  /** Waits until the service is ready: on a busy machine a check of the disk may take too long. */
  readonly ready: () => Promise<void>;
  readonly wholeUpload: () => Promise<string>;
};

export type Send = (call: Call) => Promise<Checked>;

const asJson = { Accept: 'application/json' } as const;

/** Requests that succeed, for each operation that is not made from another one. */
export const EXERCISES: Readonly<Record<string, (send: Send, world: World) => Promise<unknown>>> = {
  getLandingPage: (send) => send({}),
  getDescription: async (send) => {
    const { headers } = await send({ headers: { Accept: 'application/vnd.oai.openapi+json' } });
    await send({ headers: { 'If-None-Match': headers.get('etag') ?? '' } });
  },
  getLiveness: (send) => send({}),
  getReadiness: async (send, { ready }) => {
    await ready();
    await send({});
  },
  getServiceDocument: (send) => send({}),
  getServiceDocumentOfCollection: (send, { collection }) => send({ path: { collection } }),

  listDeposits: async (send, { collection }) => {
    await send({ path: { collection } });
    const query = { page: '2', page_size: '1', status: 'partial', below: '100' };
    await send({ path: { collection }, query });
    await send({ path: { collection }, query: { origin: 'x'.repeat(5000) } }); // too long for links in headers
  },
  createDeposit: async (send, { collection, wholeUpload }) => {
    const path = { collection };
    const form = { path, headers: { ...formType, ...partial }, body: helloForm };
    await send(form);
    await send({ ...form, query: { 'dry-run': 'true' } });
    await send({ ...form, headers: { ...form.headers, ...asJson } });
    await send({ ...form, headers: { ...form.headers, ...asJson }, query: { 'dry-run': 'true' } });
    const { contentType, body } = swordClients['first Python client']({
      entry: helloEntry,
      archive: helloZip,
      filename: 'hello.zip',
    });
    await send({ path, headers: { 'Content-Type': contentType, ...partial }, body });
    const promises = { 'Content-MD5': md5Of(helloTar), Slug: 'hello', 'Idempotency-Key': 'once' };
    const tar = { ...archiveHeaders('hello.tar', 'application/x-tar'), ...promises, ...partial };
    await send({ path, headers: tar, body: helloTar });
    await send({ path, headers: { ...entryHeaders(), ...partial }, body: helloEntry });
    await send({ path, headers: { Upload: await wholeUpload(), ...partial } });
  },

  getReceipt: readDeposits,
  addMetadata: addMetadata,
  replaceMetadata: replaceMetadata,
  deleteDeposit: async (send, world) => send({ path: await newDeposit(world) }),
  getReceiptAtAtom: readDeposits,
  addMetadataAtAtom: addMetadata,
  replaceMetadataAtAtom: replaceMetadata,
  deleteDepositAtAtom: async (send, world) => send({ path: await newDeposit(world) }),

  getArchives: async (send, world) => {
    await readDeposits(send, world);
    await readTar(send, world);
    await send({ path: await newDeposit(world), headers: { Range: 'bytes=3-' } });
    const headers = { 'Accept-Packaging': 'http://purl.org/net/sword/package/SimpleZip' };
    await send({ path: await newDeposit(world), headers });
  },
  addArchive: async (send, world) => {
    await send({
      path: await newDeposit(world),
      headers: { ...archiveHeaders(), ...asJson },
      body: helloZip,
    });
    const upload = { Upload: await world.wholeUpload(), ...final, 'Idempotency-Key': 'another' };
    await send({ path: await newDeposit(world), headers: upload });
  },
  replaceArchives: async (send, world) => {
    await send({ path: await newDeposit(world), headers: archiveHeaders(), body: helloZip });
    await send({ path: await newDeposit(world), headers: formType, body: formOf([archivePart()]) });
  },
  removeArchives: async (send, world) => send({ path: await newDeposit(world) }),
  getMediaFeed: readDeposits,
  getArchive: async (send, world) => readFile(send, world),
  replaceArchive: async (send, world) => {
    const path = { ...(await newDeposit(world)), file: 1 };
    await send({ path, headers: archiveHeaders(), body: helloZip });
  },
  removeArchive: async (send, world) => send({ path: { ...(await newDeposit(world)), file: 1 } }),

  getStatus: readDeposits,
  getContent: readDeposits,
  getStatement: async (send, world) => {
    await readDeposits(send, world);
    await readTar(send, world);
  },
  getStatementRdf: readDeposits,
  getHistory: async (send, world) => {
    await readDeposits(send, world);
    await send({ path: await newDeposit(world), query: { from: '1' } });
  },
  followDeposit: async (send, { collection, done: { deposit } }) => {
    const path = { collection, deposit };
    const { body } = await send({ path });
    await send({ path, headers: { 'Last-Event-ID': /^id: (.*)$/m.exec(body)?.[1] ?? '8' } });
  },
  followCollection: (send, { collection }) => send({ path: { collection }, until: /retry/ }),
  listUndelivered: (send, { collection }) => send({ path: { collection } }),

  resolveIdentifier: async (send, { done: { swhid } }) => {
    const path = { swhid };
    await send({ path });
    for (const type of ['application/x-tar', 'application/octet-stream']) {
      const { headers } = await send({ path, headers: { Accept: type } });
      const held = { Accept: type, 'If-None-Match': headers.get('etag') ?? '' };
      await send({ path, headers: held });
    }
  },

  beginUpload: async (send, { collection }) => {
    const headers = { ...TUS, 'Upload-Length': String(helloTar.length) };
    await send({ path: { collection }, headers: { ...headers, ...metadataOf({ filename: 'hello.tar' }) } });
    const first = { ...headers, ...pieceOf(helloTar) };
    await send({ path: { collection }, headers: first, body: helloTar });
  },
  getUpload: async (send, { collection, upload }) =>
    send({ path: { collection, upload: await upload() }, headers: TUS }),
  continueUpload: async (send, { collection, upload }) => {
    const path = { collection, upload: await upload() };
    const headers = { ...pieceHeaders(0), ...checksumOf('sha256', helloTar) };
    await send({ path, headers, body: helloTar });
  },
  removeUpload: async (send, { collection, upload }) =>
    send({ path: { collection, upload: await upload() }, headers: TUS }),
};

async function newDeposit({ collection, partial: begin }: World) {
  return { collection, deposit: await begin() };
}

/** Reads a partial deposit and one that is done, each also with a client that has it cached. */
async function readDeposits(send: Send, world: World): Promise<void> {
  const done = { collection: world.collection, deposit: world.done.deposit };
  for (const path of [await newDeposit(world), done]) {
    const { headers } = await send({ path });
    await send({ path, headers: { 'If-None-Match': headers.get('etag') ?? '' } });
  }
}

/** Reads a deposit of another packaging. */
async function readTar(send: Send, { collection, tar }: World): Promise<void> {
  await send({ path: { collection, deposit: await tar() }, headers: asJson });
}

async function readFile(send: Send, { collection, done: { deposit } }: World): Promise<void> {
  const path = { collection, deposit, file: 1 };
  const { headers } = await send({ path });
  await send({ path, headers: { 'If-None-Match': headers.get('etag') ?? '' } });
  await send({ path, headers: { Range: 'bytes=3-7', 'If-Range': headers.get('etag') ?? '' } });
}

async function addMetadata(send: Send, world: World): Promise<void> {
  const path = await newDeposit(world);
  await send({ path, headers: { ...entryHeaders(), ...partial, 'If-Match': '*' }, body: helloEntry });
  await send({ path, headers: { ...final, ...asJson } });
}

async function replaceMetadata(send: Send, world: World): Promise<void> {
  const path = await newDeposit(world);
  await send({ path, headers: { ...entryHeaders(), ...partial }, body: helloEntry });
  await send({ path, headers: { ...formType, ...final }, body: helloForm });
  const { collection, done } = world;
  const headers = { 'Content-Type': ATOM_TYPE, 'X-Check-SWHID': done.swhid };
  await send({ path: { collection, deposit: done.deposit }, headers, body: helloEntry });
}

function pieceOf(bytes: Buffer): Record<string, string> {
  const { 'Upload-Offset': _offset, ...headers } = pieceHeaders(0);
  return { ...headers, ...checksumOf('sha1', bytes) };
}
