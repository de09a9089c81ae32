import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import type { EntryFacts, MetadataEntry } from '../../domain/deposit/events.ts';
import { inTime } from '../../in-time.ts';
import { readEntry } from '../../sword/entry/atom-entry.ts';
import { type DublinCoreTerm, dublinCoreTerms } from '../../sword/entry/dublin-core-terms.ts';
import { entryFacts } from '../../sword/entry/entry-facts.ts';
import { inTurns } from '../../sword/entry/steps.ts';
import type { XmlLimits } from '../../sword/entry/xml-tree.ts';
import { badRequest, SwordError } from '../../sword/sword-error.ts';
import type { EntryTerms } from '../answering/entry-terms.ts';
import { ClientGone, continueIfAsked, type Patience } from './request-body.ts';

/** An entry that has been read, not yet stored. */
export type ReadEntry = {
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly facts: EntryFacts;
  readonly terms: readonly DublinCoreTerm[];
};

export type EntryOptions = {
  readonly depositNamespace: string;
  readonly xmlLimits: XmlLimits;
  /** Host name under which the client's URLs must lie; `null` when it has none. */
  readonly clientDomain: string | null;
};

/** The bytes of an entry that is the whole body of its request. */
export async function receiveEntryBytes(ctx: Context, maxBytes: number, patience: Patience): Promise<Buffer> {
  continueIfAsked(ctx);
  ctx.req.headers['content-type'] ??= 'application/atom+xml'; // koa-body reads nothing without a type
  const { koaBody } = await import('koa-body'); // large, and not needed by those who send multipart bodies or archives
  const parse = koaBody({
    // latin1 keeps every byte as it is: in which encoding they are is for the XML to say.
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
    refuse(error, maxBytes, ctx.req),
  );
  const size = Math.min(ctx.request.length ?? maxBytes, maxBytes);
  const ms = patience.base + size / patience.bytesPerMs;
  await inTime(reading, ms, () => {
    throw badRequest(`The entry did not arrive within ${Math.round(ms / 1000)} seconds.`);
  });
  const text: unknown = ctx.request.body;
  return Buffer.from(typeof text === 'string' ? text : '', 'latin1');
}

/** @throws {SwordError} 412: the MD5 that was promised is another. */
export function assertMd5(bytes: Uint8Array, promised: string | null): void {
  if (promised === null) return;
  const found = hash('md5', bytes);
  if (found === promised) return;
  const text = `The MD5 promised is ${promised}, but the ${bytes.length} bytes received have ${found}.`;
  throw new SwordError('ErrorChecksumMismatch', text);
}

/** What the bytes say. @throws {SwordError} they are no Atom entry. */
export async function understandEntry(
  bytes: Uint8Array,
  charset: string | undefined,
  { depositNamespace, xmlLimits, clientDomain }: EntryOptions,
): Promise<ReadEntry> {
  if (bytes.length === 0) throw badRequest('The body is empty where an Atom entry is needed.');
  const document = await inTurns(readEntry(bytes, { charset, limits: xmlLimits }));
  const facts = await inTurns(entryFacts(document, depositNamespace, clientDomain));
  const terms = dublinCoreTerms(document);
  return { bytes: Buffer.from(bytes), encoding: document.encoding, facts, terms };
}

/** Keeps the entry verbatim. */
export async function storeEntry(
  { bytes, encoding, facts, terms }: ReadEntry,
  kept: { readonly store: Pick<ArchiveStore, 'put'>; readonly terms: EntryTerms },
): Promise<MetadataEntry> {
  const { sha256, length } = await kept.store.put(once(bytes));
  const entry = { sha256, length, encoding, facts };
  kept.terms.remember(entry, terms); // the receipt is about to tell them
  return entry;
}

export function entryTooLarge(maxBytes: number): SwordError {
  const text = `The metadata entry is larger than the ${maxBytes} bytes that are accepted.`;
  return new SwordError('MaxUploadSizeExceeded', text);
}

/** The words of koa-body's own reader, in ours. */
function refuse(error: unknown, maxBytes: number, req: Context['req']): never {
  const type = (error as { type?: unknown }).type;
  if (type === 'entity.too.large') throw entryTooLarge(maxBytes);
  // While it was read, or before.
  const isGone = type === 'request.aborted' || (type === 'stream.not.readable' && req.destroyed);
  if (isGone) throw new ClientGone('The client went away.', { cause: error });
  if (type === 'request.size.invalid') {
    throw new SwordError(
      'ErrorChecksumMismatch',
      'The body has not the length that Content-Length declares.',
    );
  }
  throw error;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
