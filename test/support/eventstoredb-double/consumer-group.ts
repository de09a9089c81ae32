import type { StoredEvent, StoredLog } from './stored-log.ts';

export type GroupSettings = {
  readonly accepts: (stream: string) => boolean;
  /** Begins behind this position; at the beginning of the log, when left out. */
  readonly after?: bigint;
  readonly messageTimeout: number;
  readonly maxRetryCount: number;
  /** A stream's events go to one consumer as long as the consumers stay the same. */
  readonly isPinned: boolean;
};

export type HandedOut = { readonly event: StoredEvent; readonly retryCount: number };

/** One consumer that is connected; it holds at most `bufferSize` events that it has not acknowledged. */
export type Consumer = { readonly bufferSize: number; readonly send: (message: HandedOut) => void };

export type NackAction = 'retry' | 'park' | 'skip';

/** A persistent subscription to all events: every one is handed out until a consumer acknowledges it. */
export class ConsumerGroup {
  readonly settings: GroupSettings;
  readonly parked: HandedOut[] = [];
  readonly #log: StoredLog;
  readonly #consumers = new Map<Consumer, Map<string, HandedOut & { readonly timer: NodeJS.Timeout }>>();
  #next = 0;
  #waiting: HandedOut[] = [];
  #turn = 0;

  constructor(log: StoredLog, settings: GroupSettings) {
    this.#log = log;
    this.settings = settings;
    const { after } = settings;
    if (after !== undefined) this.#next = log.all.filter(({ position }) => position <= after).length;
    log.onAppended(() => this.#handOut());
  }

  get consumers(): number {
    return this.#consumers.size;
  }

  /** Handed out or waiting to be. */
  get unacknowledged(): number {
    return this.held + this.#waiting.length;
  }

  /** Handed out and not acknowledged. */
  get held(): number {
    return [...this.#consumers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Of the last event that was looked at. */
  get lastKnown(): bigint | undefined {
    return this.#log.all[this.#next - 1]?.position;
  }

  /** Of the last event before every one that is not acknowledged; a real server saves it every two seconds. */
  get checkpoint(): bigint | undefined {
    const held = [...this.#consumers.values()].flatMap((messages) => [...messages.values()]);
    const open = [...held, ...this.#waiting].map(({ event }) => event.position);
    const before = (position: bigint) => open.every((one) => position < one);
    return this.#log.all.slice(0, this.#next).findLast(({ position }) => before(position))?.position;
  }

  connect(consumer: Consumer): void {
    this.#consumers.set(consumer, new Map());
    this.#handOut();
  }

  /** What it held is handed out again; its count is not raised, as on a real server. */
  disconnect(consumer: Consumer): void {
    const held = [...(this.#consumers.get(consumer)?.values() ?? [])];
    this.#consumers.delete(consumer);
    for (const { timer } of held) clearTimeout(timer);
    this.#again(held);
  }

  acknowledge(consumer: Consumer, ids: readonly string[]): void {
    for (const id of ids) this.#release(consumer, id);
    this.#handOut();
  }

  refuse(consumer: Consumer, ids: readonly string[], action: NackAction): void {
    for (const id of ids) {
      const message = this.#release(consumer, id);
      if (message && action === 'retry') this.#retry(message);
      if (message && action === 'park') this.parked.push(message);
    }
    this.#handOut();
  }

  /** As if the time-out of everything handed out were over. */
  timeOut(): void {
    for (const [consumer, held] of this.#consumers)
      for (const message of Array.from(held.values())) this.#timedOut(consumer, message);
  }

  replayParked(): void {
    this.#again(this.parked.splice(0));
  }

  #release(consumer: Consumer, id: string): HandedOut | undefined {
    const held = this.#consumers.get(consumer);
    const message = held?.get(id);
    clearTimeout(message?.timer);
    held?.delete(id);
    return message;
  }

  #retry({ event, retryCount }: HandedOut): void {
    if (retryCount >= this.settings.maxRetryCount) this.parked.push({ event, retryCount });
    else this.#again([{ event, retryCount: retryCount + 1 }]);
  }

  #again(messages: readonly HandedOut[]): void {
    const again = messages.map(({ event, retryCount }) => ({ event, retryCount }));
    this.#waiting = [...again, ...this.#waiting].sort((a, b) => Number(a.event.position - b.event.position));
    this.#handOut();
  }

  #handOut(): void {
    if (this.#consumers.size === 0) return;
    for (; this.#next < this.#log.all.length; this.#next += 1) {
      const event = this.#log.all[this.#next] as StoredEvent;
      if (this.settings.accepts(event.stream)) this.#waiting.push({ event, retryCount: 0 });
    }
    this.#waiting = this.#waiting.filter((message) => !this.#sent(message));
  }

  #sent(message: HandedOut): boolean {
    const consumer = this.#consumerFor(message.event);
    const held = consumer && this.#consumers.get(consumer);
    if (!consumer || !held) return false;
    const timer = setTimeout(() => this.#timedOut(consumer, message), this.settings.messageTimeout).unref();
    held.set(message.event.id, { ...message, timer });
    consumer.send(message);
    return true;
  }

  #consumerFor({ stream }: StoredEvent): Consumer | undefined {
    const consumers = [...this.#consumers.keys()];
    if (this.settings.isPinned) {
      const pinned = consumers[hashOf(stream) % consumers.length];
      return pinned && this.#hasRoom(pinned) ? pinned : undefined;
    }
    this.#turn += 1;
    const [first, second] = [consumers.slice(this.#turn % consumers.length), consumers];
    return [...first, ...second].find((consumer) => this.#hasRoom(consumer));
  }

  #hasRoom(consumer: Consumer): boolean {
    return (this.#consumers.get(consumer)?.size ?? 0) < consumer.bufferSize;
  }

  #timedOut(consumer: Consumer, message: HandedOut): void {
    if (this.#release(consumer, message.event.id)) this.#retry(message);
  }
}

function hashOf(text: string): number {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return hash;
}
