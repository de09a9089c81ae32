import { randomUUID } from 'node:crypto';
import type { DepositService } from '../../src/deposits/deposit-service.ts';
import type { Change, DepositCommand } from '../../src/domain/deposit/commands.ts';
import type { EntryFacts, MetadataEntry } from '../../src/domain/deposit/events.ts';
import { depositIdentifiers } from '../../src/swhid/deposit-identifiers.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import { BASE_URL } from '../nodes/site-settings.ts';
import type { Success } from './answer.ts';

const MAX_ARCHIVES = 20;

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
};

/** Creates a deposit as `src/http/writes/deposit-writes.ts` does it. */
export async function create(node: SimulatedNode, creation: Creation): Promise<Success> {
  const { client, bytes, isFinal, key } = creation;
  const depositService = depositServiceOf(node);
  const requestId = randomUUID();
  const archive = await stored(node, creation.upload === undefined ? bytes : await uploaded(node, creation));
  const entry = entryOf(archive);
  const command = (depositId: number, uuid: string, now: string) =>
    ({
      type: 'CreateDeposit',
      depositId,
      uuid,
      client,
      collection: 'software',
      now,
      providerUrl: null,
      fallbackOrigin: `${BASE_URL}/${depositId}`,
      slug: null,
      archive,
      entry,
      final: isFinal,
    }) as const;
  const retries = depositService.retries();
  const keyed = async (newId: () => Promise<number>) => {
    if (key === undefined) return undefined;
    const earlier = await depositService.requests.find(client, key, retries.since);
    const depositId = earlier?.depositId ?? (await newId());
    return depositService.requests.begin(client, key, { depositId, requestId, fingerprint: key }, retries);
  };
  const { depositId, revision } = await depositService.create(command, requestId, keyed, retries);
  const shown = await depositService.content(depositId, revision, retries);
  return { kind: 'success', depositId, revision, shown };
}

/** Resolves to the bytes of an upload, which stays: the creation may be repeated. */
async function uploaded(node: SimulatedNode, { client, upload: id, bytes }: Creation): Promise<Buffer> {
  const upload = node.uploads?.find(id ?? '', { client, collection: 'software' });
  if (!upload) throw new Error(`The upload ${id} is not there.`);
  const found = Buffer.concat(await Array.fromAsync(upload.bytes()));
  if (!found.equals(bytes)) throw new Error(`The upload ${id} has other bytes than were sent.`);
  return found;
}

/** Adds an archive to a partial deposit, or replaces those that it has. */
export async function addOrReplace(
  node: SimulatedNode,
  request: { readonly client: string; readonly depositId: number; readonly bytes: Buffer },
  kind: 'add' | 'replace',
): Promise<Success> {
  const archive = await stored(node, request.bytes);
  const entry = kind === 'replace' ? entryOf(archive) : null;
  return changeContent(node, request, { kind: `${kind}-content`, archive, entry });
}

export function removeArchives(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  return changeContent(node, request, { kind: 'remove-archives' });
}

export function complete(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  const { depositId } = request;
  return change(node, request, (now) => ({ type: 'CompleteDeposit', depositId, now }));
}

export function remove(node: SimulatedNode, request: OfDeposit): Promise<Success> {
  const { depositId } = request;
  return change(node, request, () => ({ type: 'DeleteDeposit', depositId, reason: 'by its client' }));
}

/** Adds metadata to a deposit that is done. Resolves to `undefined` if it is not. */
export async function annotate(node: SimulatedNode, request: OfDeposit): Promise<Success | undefined> {
  const { depositId } = request;
  const status = await depositServiceOf(node).status(depositId);
  const swhid = depositIdentifiers(status?.loaded ?? null)?.refId;
  if (swhid === undefined) return undefined;
  const entry = entryOf(await stored(node, Buffer.from(`entry ${depositId}`)));
  return change(node, request, () => ({
    type: 'UpdateMetadata',
    depositId,
    swhid,
    entry,
    providerUrl: null,
  }));
}

type OfDeposit = { readonly client: string; readonly depositId: number };

function changeContent(node: SimulatedNode, request: OfDeposit, content: Change): Promise<Success> {
  const { depositId } = request;
  return change(node, request, (now) => ({
    type: 'ChangeDeposit',
    depositId,
    final: false,
    maxArchives: MAX_ARCHIVES,
    now,
    providerUrl: null,
    change: content,
  }));
}

async function change(
  node: SimulatedNode,
  { client, depositId }: OfDeposit,
  command: (now: string) => DepositCommand,
): Promise<Success> {
  const depositService = depositServiceOf(node);
  const id = randomUUID();
  const retries = depositService.retries();
  const request = { commandId: id, requestId: id, once: false };
  const { revision } = await depositService.change(depositId, command, client, request, { retries });
  const shown = await depositService.status(depositId, revision, retries);
  return { kind: 'success', depositId, revision, shown };
}

async function stored({ store }: SimulatedNode, bytes: Buffer) {
  const { sha256, length } = await store.put(oneChunk(bytes));
  return { sha256, length, md5: null, filename: 'archive.tar', mediaType: 'application/x-tar' };
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** The entry is stored in the bytes of the archive: nothing in the simulation reads it. */
function entryOf({ sha256, length }: { readonly sha256: string; readonly length: number }): MetadataEntry {
  return { sha256, length, encoding: 'utf-8', facts: FACTS };
}

function depositServiceOf({ depositService, process }: SimulatedNode): DepositService {
  if (!depositService) throw new Error(`${process.name} serves no HTTP.`);
  return depositService;
}
