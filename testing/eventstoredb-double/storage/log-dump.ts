import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { StoredEvent } from './stored-events.ts';
import type { StoredLog } from './stored-log.ts';

/**
 * One stored event as a line of JSON. Bytes are text, or base64 where they are no UTF-8; other JSON stands for its text.
 * Parts that are missing follow from the log: the position and the revision behind the last one, the present time.
 */
type DumpedEvent = {
  readonly stream: string;
  readonly type: string;
  readonly data: DumpedBytes;
  readonly metadata?: DumpedBytes;
  readonly id?: string;
  readonly contentType?: string;
  readonly revision?: number;
  readonly position?: string;
  /** Hundreds of nanoseconds since 1970. */
  readonly created?: string;
};
type DumpedBytes = string | { readonly base64: string } | Readonly<Record<string, unknown>>;

const BATCH = 1000;

/** Writes every event, also those of the server itself, in the order of the log. */
export async function writeDump(log: StoredLog, file: string): Promise<void> {
  await pipeline(Readable.from(lines(log)), createWriteStream(file));
}

/** Appends the events of a dump to the log; returns how many. */
export async function loadDump(log: StoredLog, file: string): Promise<number> {
  let [batch, count]: [StoredEvent[], number] = [[], 0];
  const store = () => {
    log.storage.together(() => {
      for (const event of batch) log.storage.load(placed(log, event));
    });
    count += batch.length;
    batch = [];
  };
  for await (const line of createInterface(createReadStream(file))) {
    if (line.trim() !== '') batch.push(restored(JSON.parse(line) as DumpedEvent));
    if (batch.length === BATCH) store();
  }
  store();
  return count;
}

function* lines(log: StoredLog): Generator<string> {
  for (const { position, created, data, metadata, ...event } of log.events()) {
    const texts = { position: String(position), created: String(created) };
    yield `${JSON.stringify({ ...texts, ...event, data: dumped(data), metadata: dumped(metadata) })}\n`;
  }
}

const UNPLACED = -1n;

function restored({ stream, type, data, metadata = '', ...rest }: DumpedEvent): StoredEvent {
  return {
    stream,
    type,
    id: rest.id ?? crypto.randomUUID(),
    contentType: rest.contentType ?? 'application/json',
    revision: rest.revision ?? Number(UNPLACED),
    position: BigInt(rest.position ?? UNPLACED),
    created: rest.created === undefined ? BigInt(Date.now()) * 10_000n : BigInt(rest.created),
    data: bytesOf(data),
    metadata: bytesOf(metadata),
  };
}

function placed({ storage }: StoredLog, event: StoredEvent): StoredEvent {
  return {
    ...event,
    position: event.position === UNPLACED ? storage.end : event.position,
    revision: event.revision === Number(UNPLACED) ? storage.nextRevision(event.stream) : event.revision,
  };
}

function dumped(bytes: Uint8Array): DumpedBytes {
  const text = new TextDecoder().decode(bytes);
  const isText = Buffer.from(text).equals(bytes);
  return isText ? text : { base64: Buffer.from(bytes).toString('base64') };
}

function bytesOf(dumpedBytes: DumpedBytes): Uint8Array {
  if (typeof dumpedBytes === 'string') return Buffer.from(dumpedBytes);
  const { base64 } = dumpedBytes;
  return typeof base64 === 'string'
    ? Buffer.from(base64, 'base64')
    : Buffer.from(JSON.stringify(dumpedBytes));
}
