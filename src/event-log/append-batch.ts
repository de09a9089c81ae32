import type { ExpectedRevision, NewEvent } from './event-log.ts';
import type { CopyableEvent } from './integrity/copyable-event.ts';
import { toExpected } from './new-event-row.ts';

type Append = { readonly stream: string; readonly expected: ExpectedRevision; readonly events: NewEvent[] };

/** EventStoreDB accepts 1 MiB per append, and counts more than the JSON. */
const APPEND_BYTES = 512 * 1024;
const APPEND_EVENTS = 100;
const GROUP_BYTES = 8 * 1024 * 1024;

/** Collects events for a log as appends, in their order. Consecutive events of one stream share an append. */
export class AppendBatch {
  readonly appends: Append[] = [];
  readonly #maxAppends: number;
  /** The event added last, and the bytes of its append so far. */
  #last: { readonly event: CopyableEvent; readonly appendBytes: number } | undefined;
  #events = 0;
  #bytes = 0;

  constructor(maxAppends: number) {
    this.#maxAppends = maxAppends;
  }

  get events(): number {
    return this.#events;
  }

  /** @returns false when the batch is full; an empty batch accepts one event of any size. */
  add(event: CopyableEvent): boolean {
    const bytes = bytesOf(event);
    if (this.#events > 0 && this.#bytes + bytes > GROUP_BYTES) return false;
    const open = this.#appendFor(event, bytes);
    if (!open && this.appends.length === this.#maxAppends) return false;
    if (open) open.events.push(event);
    else
      this.appends.push({ stream: event.stream, expected: toExpected(event.revision - 1), events: [event] });
    this.#last = { event, appendBytes: (open ? (this.#last?.appendBytes ?? 0) : 0) + bytes };
    this.#events += 1;
    this.#bytes += bytes;
    return true;
  }

  /** Returns the last append if the event can be added to it. */
  #appendFor({ stream, revision }: CopyableEvent, bytes: number): Append | undefined {
    const append = this.appends.at(-1);
    if (!append || !this.#last) return undefined;
    const { event, appendBytes } = this.#last;
    const isNext = event.stream === stream && event.revision + 1 === revision;
    const hasRoom = append.events.length < APPEND_EVENTS && appendBytes + bytes <= APPEND_BYTES;
    return isNext && hasRoom ? append : undefined;
  }
}

function bytesOf({ data, metadata }: CopyableEvent): number {
  return Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
}
