import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { ClientLogin } from '../../../projections/client-logins.ts';
import type { EntryFacts, MetadataEntry } from '../../domain/deposit/events.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { readEntry } from '../../sword/entry/atom-entry.ts';
import { runCooperatively } from '../../sword/entry/cooperative.ts';
import { type DublinCoreTerm, dublinCoreTerms } from '../../sword/entry/dublin-core-terms.ts';
import { entryFacts } from '../../sword/entry/entry-facts.ts';
import { badRequest, checksumMismatch, retryAfter, SwordError } from '../../sword/sword-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import type { DublinCoreCache } from '../responses/dublin-core-cache.ts';
import type { ReceivingParts } from './receiving.ts';
import { type BodyTimeouts, ClientGone, inTime, sendContinue } from './request-body.ts';

/** An entry that is parsed but not yet stored. */
export type ReadEntry = {
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly facts: EntryFacts;
  readonly terms: readonly DublinCoreTerm[];
};

type EntryParts = Pick<ReceivingParts, 'depositNamespace' | 'xmlLimits' | 'entryTurns'>;

/** Makes the turns of reading entries: many large entries of one client at the same time do not slow those of others. */
export function entryTurns(): FairSemaphore {
  return new FairSemaphore({
    limit: 1,
    waiting: Infinity, // each waits in a write, and those are limited
    refuse: () => new SwordError('ServiceUnavailable', 'Too many entries at the same time: try again later.'),
  });
}

/** Reads an entry that is the whole body of its request. */
export async function receiveEntryBytes(
  ctx: Context,
  maxBytes: number,
  timeouts: BodyTimeouts,
): Promise<Buffer> {
  const { koaBody } = await loadedKoaBody();
  sendContinue(ctx);
  ctx.req.headers['content-type'] ??= 'application/atom+xml'; // koa-body requires a type
  ctx.req.headers['content-encoding'] = 'identity'; // others were refused, and koa-body knows no other spelling
  const parse = koaBody({
    // latin1 preserves every byte; the XML declares its encoding.
    encoding: 'latin1',
    text: true,
    textTypes: ['*/*'],
    textLimit: maxBytes,
    json: false,
    urlencoded: false,
    multipart: false,
    patchNode: false,
  });
  const reading = parse(ctx, async () => undefined).catch((error: unknown) =>
    throwTranslated(error, maxBytes, ctx.req),
  );
  const size = Math.min(ctx.request.length ?? maxBytes, maxBytes);
  await inTime(reading, timeouts.base + size / timeouts.bytesPerMs);
  const text: unknown = ctx.request.body;
  return Buffer.from(typeof text === 'string' ? text : '', 'latin1');
}

/** Loads koa-body with the first entry: it is large, and neither multipart bodies nor archives need it. */
async function loadedKoaBody(): Promise<typeof import('koa-body')> {
  try {
    return await import('koa-body');
  } catch (error) {
    const text = 'The service cannot read entries at the moment: try again later.'; // the cause names paths
    throw retryAfter('ServiceUnavailable', text, 5, error);
  }
}

/** Compares the MD5 of the bytes with the promised one. @throws {SwordError} 412: they differ. */
export function assertMd5(bytes: Uint8Array, promised: string | null): void {
  if (promised === null) return;
  const found = hash('md5', bytes);
  if (found === promised) return;
  const text = `The MD5 promised is ${promised}, but the ${bytes.length} bytes received have ${found}.`;
  throw checksumMismatch(text);
}

/** Parses an Atom entry of a client. @throws {SwordError} the bytes are no Atom entry. */
export async function understandEntry(
  bytes: Uint8Array,
  charset: string | undefined,
  { client, domain }: Pick<ClientLogin, 'client' | 'domain'>,
  { depositNamespace, xmlLimits, entryTurns: turns }: EntryParts,
): Promise<ReadEntry> {
  if (bytes.length === 0) throw badRequest('The body is empty where an Atom entry is needed.');
  using _turn = await turns.acquire(client);
  const document = await runCooperatively(readEntry(bytes, charset, xmlLimits));
  const facts = await runCooperatively(entryFacts(document, depositNamespace, domain));
  const terms = dublinCoreTerms(document);
  // Copies: the texts are slices of the document, and each of them would retain it in the views and caches.
  return { bytes: Buffer.from(bytes), encoding: document.encoding, ...structuredClone({ facts, terms }) };
}

/** Stores the entry verbatim. */
export async function storeEntry(
  { bytes, encoding, facts, terms }: ReadEntry,
  stores: { readonly store: Pick<ObjectStore, 'put'>; readonly terms: DublinCoreCache },
): Promise<MetadataEntry> {
  const { sha256, length } = await stores.store.put([bytes]);
  const entry = { sha256, length, encoding, facts };
  stores.terms.set(entry, terms); // the receipt is about to show them
  return entry;
}

export function entryTooLarge(maxBytes: number): SwordError {
  const text = `The metadata entry is larger than the ${maxBytes} bytes that are accepted.`;
  return new SwordError('MaxUploadSizeExceeded', text);
}

/** Translates errors of koa-body's reader into those of this service. */
function throwTranslated(error: unknown, maxBytes: number, req: Context['req']): never {
  const type = (error as { type?: unknown }).type;
  if (type === 'entity.too.large') throw entryTooLarge(maxBytes);
  // The client left before or during the read.
  const isGone = type === 'request.aborted' || (type === 'stream.not.readable' && req.destroyed);
  if (isGone) throw new ClientGone('The client went away.', { cause: error });
  if (type === 'request.size.invalid') {
    throw checksumMismatch('The length of the body differs from Content-Length.');
  }
  throw error;
}
