import type { CopyableEvent } from './copyable-event.ts';
import type { ExpectedRevision, NewEvent } from './event-log.ts';

type Append = { readonly stream: string; readonly expected: ExpectedRevision; readonly events: NewEvent[] };

/** EventStoreDB takes 1 MiB, and counts more than the JSON. */
const APPEND_BYTES = 512 * 1024;
const APPEND_EVENTS = 100;
const GROUP_BYTES = 8 * 1024 * 1024;

/** Events on their way into a log as appends, in their order; those of one stream that follow each other share one. */
export class AppendGroup {
  readonly appends: Append[] = [];
  readonly #most: number;
  /** The event added last, and the bytes of its append so far. */
  #last: { readonly event: CopyableEvent; readonly appendBytes: number } | undefined;
  #events = 0;
  #bytes = 0;

  /** `most`: appends it may hold. */
  constructor(most: number) {
    this.#most = most;
  }

  get events(): number {
    return this.#events;
  }

  /** @returns false when there is no room; one event always has room in an empty group, however large it is. */
  add(event: CopyableEvent): boolean {
    const bytes = bytesOf(event);
    if (this.#events > 0 && this.#bytes + bytes > GROUP_BYTES) return false;
    const open = this.#appendFor(event, bytes);
    if (!open && this.appends.length === this.#most) return false;
    if (open) open.events.push(event);
    else this.appends.push({ stream: event.stream, expected: before(event), events: [event] });
    this.#last = { event, appendBytes: (open ? (this.#last?.appendBytes ?? 0) : 0) + bytes };
    this.#events += 1;
    this.#bytes += bytes;
    return true;
  }

  /** The last append, when the event may share it. */
  #appendFor({ stream, revision }: CopyableEvent, bytes: number): Append | undefined {
    const append = this.appends.at(-1);
    if (!append || !this.#last) return undefined;
    const { event, appendBytes } = this.#last;
    const isNext = event.stream === stream && event.revision + 1 === revision;
    const hasRoom = append.events.length < APPEND_EVENTS && appendBytes + bytes <= APPEND_BYTES;
    return isNext && hasRoom ? append : undefined;
  }
}

function before({ revision }: CopyableEvent): ExpectedRevision {
  return revision === 0 ? 'none' : revision - 1;
}

function bytesOf({ data, metadata }: CopyableEvent): number {
  return Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
}
