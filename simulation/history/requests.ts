import { randomUUID } from 'node:crypto';
import { changeContent, completeDeposit, removeDeposit, updateMetadata } from '../../src/deposits/change.ts';
import type { ClientWrite, DepositParts, ReceivedContent, Written } from '../../src/deposits/client-write.ts';
import { createDeposit } from '../../src/deposits/create.ts';
import type { EntryFacts, MetadataEntry } from '../../src/domain/deposit/events.ts';
import { depositIdentifiers } from '../../src/swhid/deposit-identifiers.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import { BASE_URL, PART_BYTES } from '../nodes/site-settings.ts';
import type { Success } from './answer.ts';
import { uploadedBytes } from './upload-pieces.ts';

const FACTS: EntryFacts = {
  title: 'Title',
  hasTitle: true,
  hasAuthor: true,
  authors: ['Author'],
  urlHosts: [],
  urlHostsTruncated: false,
  origin: null,
  externalIdentifier: null,
  version: null,
  dateCreated: null,
  datePublished: null,
};

export type Creation = {
  readonly client: string;
  readonly bytes: Buffer;
  readonly isFinal: boolean;
  readonly key: string | undefined;
  /** The id of the upload that has the bytes. */
  readonly upload: string | undefined;
  /** Called if the upload has not all bytes that were acknowledged. */
  readonly onPieceFault: (text: string) => void;
};

/** Creates a deposit by the use case of the service. */
export async function create(node: SimulatedNode, creation: Creation): Promise<Success> {
  const { client, bytes, isFinal, key, upload, onPieceFault } = creation;
  const deposits = depositsOf(node);
  const receive = async () => {
    const sent =
      upload === undefined ? bytes : await uploadedBytes(node, client, bytes, upload, onPieceFault);
    const archive = await stored(node, sent);
    return { archive, entry: entryOf(archive) };
  };
  const written = await createDeposit(deposits, {
    ...writeOf(client, receive),
    isFinal,
    key: key === undefined ? undefined : await deposits.keys.load(client, key),
    collection: 'software',
    iris: { deposit: iriOf, edit: iriOf },
  });
  const { depositId, revision, retries } = written;
  const shown = await deposits.queries.content(depositId, revision, retries);
  return { kind: 'success', depositId, revision, shown };
}

function iriOf(_collection: string, depositId: number): string {
  return `${BASE_URL}/${depositId}`;
}

/** Adds an archive to a partial deposit, or replaces those that it has. */
export async function addOrReplace(
  node: SimulatedNode,
  { client, depositId, bytes }: OfDeposit & { readonly bytes: Buffer },
  kind: 'add' | 'replace',
): Promise<Success> {
  const archive = await stored(node, bytes);
  const content = { archive, entry: kind === 'replace' ? entryOf(archive) : null };
  const write = writeOf(client, async () => content);
  const changed = changeContent(depositsOf(node), depositId, write, () => ({
    kind: `${kind}-content`,
    ...content,
  }));
  return shown(node, await changed);
}

export async function removeArchives(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  const { client, depositId } = request;
  const removal = { kind: 'remove-archives' } as const;
  return shown(node, await changeContent(depositsOf(node), depositId, writeOf(client), () => removal));
}

export async function complete(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  const { client, depositId } = request;
  return shown(node, await completeDeposit(depositsOf(node), depositId, writeOf(client)));
}

export async function remove(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  const { client, depositId } = request;
  return shown(node, await removeDeposit(depositsOf(node), depositId, writeOf(client)));
}

/** Adds metadata to a deposit that is done. Resolves to `undefined` if it is not. */
export async function annotate(node: SimulatedNode, request: OfDeposit): Promise<Success | undefined> {
  const { client, depositId } = request;
  const deposits = depositsOf(node);
  const status = await deposits.queries.status(depositId);
  const swhid = depositIdentifiers(status?.loaded ?? null)?.refId;
  if (swhid === undefined) return undefined;
  const entry = entryOf(await stored(node, Buffer.from(`entry ${depositId}`)));
  const write = writeOf(client, async () => ({ archive: null, entry }));
  return shown(node, await updateMetadata(deposits, depositId, write, swhid));
}

type OfDeposit = { readonly client: string; readonly depositId: number };

async function shown(node: SimulatedNode, { depositId, revision, retries }: Written): Promise<Success> {
  const status = await depositsOf(node).queries.status(depositId, revision, retries);
  return { kind: 'success', depositId, revision, shown: status };
}

/** Returns a write as the checks of its headers leave it. */
function writeOf(
  client: string,
  receive: () => Promise<ReceivedContent> = async () => ({ archive: null, entry: null }),
): ClientWrite {
  return {
    requestId: randomUUID(),
    login: { client, providerUrl: null, domain: null },
    method: 'POST',
    iriPath: '/',
    inProgress: null,
    isFinal: false,
    slug: null,
    isRepeated: false,
    confirm: async () => undefined,
    receive,
  };
}

async function stored({ store }: SimulatedNode, bytes: Buffer) {
  const { sha256, length } = await store.put(inChunks(bytes));
  return { sha256, length, md5: null, filename: 'archive.tar', mediaType: 'application/x-tar' };
}

/** Yields the bytes as they arrive from a network, in ten chunks at most. */
async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  const size = Math.max(PART_BYTES / 2, Math.ceil(bytes.length / 10));
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** The entry is stored in the bytes of the archive: nothing in the simulation reads it. */
function entryOf({ sha256, length }: { readonly sha256: string; readonly length: number }): MetadataEntry {
  return { sha256, length, encoding: 'utf-8', facts: FACTS };
}

function depositsOf({ deposits, process }: SimulatedNode): DepositParts {
  if (!deposits) throw new Error(`${process.name} serves no HTTP.`);
  return deposits;
}
