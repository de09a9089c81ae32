import type { StoredEvent } from '../storage/stored-events.ts';
import { CheckpointStream } from './checkpoint-stream.ts';
import { GroupCheckpoint } from './group-checkpoint.ts';
import type { GroupConsumer } from './group-consumer.ts';
import { GroupConsumers } from './group-consumers.ts';
import type { GroupLog, GroupOptions } from './group-log.ts';
import { type GroupPage, GroupReader } from './group-reader.ts';
import type { GroupSettings } from './group-settings.ts';
import { lowestOf, type Message } from './message.ts';
import { ParkedMessages } from './parked-messages.ts';
import { PushSchedule } from './push-schedule.ts';
import { type PushResult, StreamBuffer } from './stream-buffer.ts';

export type NackAction = 'retry' | 'park' | 'skip';

/** A persistent subscription to `$all`, from when a leader loads it until that node leads no longer. */
export class ConsumerGroup {
  readonly name: string;
  readonly settings: GroupSettings;
  readonly parked: ParkedMessages;
  readonly #options: GroupOptions;
  readonly #reader: GroupReader;
  readonly #buffer: StreamBuffer;
  readonly #checkpoint: GroupCheckpoint;
  readonly #written: CheckpointStream;
  readonly #consumers: GroupConsumers;
  readonly #pushes: PushSchedule;
  #pushed = 0;
  #isStopped = false;
  #lastKnown: bigint | undefined;

  /** Begins where its checkpoint says; without one, where its settings say. */
  constructor(name: string, settings: GroupSettings, log: GroupLog, options: GroupOptions) {
    this.name = name;
    this.settings = settings;
    this.#options = options;
    this.parked = new ParkedMessages(log, name);
    this.#written = new CheckpointStream(log, name);
    this.#consumers = new GroupConsumers(settings);
    this.#pushes = new PushSchedule(() => this.#push(), options.pushDelayMs);
    this.#checkpoint = new GroupCheckpoint(settings, (position) => this.#written.write(position));
    const loaded = this.#written.load();
    if (loaded !== undefined) this.#checkpoint.load(loaded);
    this.#reader = new GroupReader(log.view, settings, loaded);
    this.#buffer = new StreamBuffer(settings, loaded, loaded === undefined && settings.startFrom === 'end');
    this.#read();
  }

  get connected(): ReadonlySet<GroupConsumer> {
    return this.#consumers.connected;
  }

  get consumers(): number {
    return this.#consumers.connected.size;
  }

  get isFull(): boolean {
    return this.#consumers.isFull;
  }

  /** The number of messages that were pushed and not acknowledged. */
  get held(): number {
    return this.#consumers.outstandingCount;
  }

  /** The number of messages that were ever pushed since it was loaded. */
  get pushed(): number {
    return this.#pushed;
  }

  /** The number of messages that were read and not acknowledged. */
  get unacknowledged(): number {
    const { read, retry } = this.#buffer.counts;
    return this.held + read + retry;
  }

  get buffers(): StreamBuffer['counts'] {
    return this.#buffer.counts;
  }

  /** The position of the last event that was read or came in and that the filter accepts. */
  get lastKnown(): bigint | undefined {
    return this.#lastKnown;
  }

  get checkpoint(): bigint | undefined {
    return this.#checkpoint.position;
  }

  get status(): string {
    if (this.#buffer.isLive) return 'Live';
    return this.#reader.isReading ? 'Behind, OutstandingPageRequest' : 'Behind';
  }

  connect(consumer: GroupConsumer): void {
    this.#consumers.add(consumer);
    this.#pushes.ask();
  }

  /** Messages that it held are pushed again, with a higher count. */
  disconnect(consumer: GroupConsumer): void {
    for (const message of this.#consumers.remove(consumer)) this.#retry(message);
    this.#pushes.ask();
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) this.#consumers.release(id);
    this.#goOn();
  }

  refuse(ids: readonly string[], action: NackAction): void {
    for (const message of ids.map((id) => this.#consumers.find(id))) {
      if (message && action === 'retry') this.#retryOrPark(message);
      if (message && action === 'park') void this.parked.park(message.event);
    }
    this.acknowledge(ids);
  }

  /** Must be called for every event that is committed. */
  notify(event: StoredEvent): void {
    const { startFrom, filter } = this.settings;
    if (this.#isStopped || (startFrom !== 'end' && event.position < startFrom)) return;
    if (!this.#reader.accepts(event)) {
      if (filter) this.#leaveOut(event, 1);
      return;
    }
    this.#seen(event);
    const wasLive = this.#buffer.isLive;
    this.#buffer.addLive(event);
    if (wasLive && !this.#buffer.isLive) this.#reader.goTo(event.position);
    this.#pushes.ask();
  }

  /** Must be called every second, or as often as the options say. */
  tick(): void {
    this.timeOut(performance.now());
    this.#mark(true);
    this.#read();
  }

  /** Ends the time-out of the messages that are due then; of all, when it is left out. */
  timeOut(now = Number.POSITIVE_INFINITY): void {
    for (const message of this.#consumers.due(now)) this.#retryOrPark(message);
    this.#pushes.ask();
  }

  replayParked(): void {
    const parked = this.parked.takeAll();
    for (const event of parked) this.#buffer.addRetry({ event, retryCount: 0, isReplayed: true });
    this.#pushes.ask();
  }

  /** Ends the calls of its consumers and pushes nothing any longer. */
  stop(): void {
    this.#isStopped = true;
    this.#consumers.drop();
  }

  /** Deletes its checkpoint and its parked events, so that a new group of its name begins where its settings say. */
  delete(): void {
    this.stop();
    this.#written.delete();
    this.parked.delete();
  }

  #read(): void {
    const mayRead =
      !this.#isStopped && !this.#buffer.isLive && this.#buffer.hasRoomFor(this.settings.readBatchSize);
    if (mayRead) this.#reader.request((page) => this.#received(page));
  }

  #received({ events, from, isEnd, leftOut }: GroupPage): void {
    if (this.#isStopped || this.#buffer.isLive) return;
    if (leftOut > 0 && this.settings.filter) this.#leaveOut({ position: from }, leftOut);
    for (const event of events) this.#buffer.addRead(event);
    const last = events.at(-1);
    if (last) this.#seen(last);
    if (isEnd) this.#buffer.tryMoveToLive();
    this.#read();
    this.#pushes.ask();
  }

  #seen({ position }: StoredEvent): void {
    if (this.#lastKnown === undefined || this.#lastKnown < position) this.#lastKnown = position;
  }

  #leaveOut({ position }: Pick<StoredEvent, 'position'>, count: number): void {
    this.#checkpoint.leftOut(position, count);
    this.#mark(false);
  }

  #mark(isTick: boolean): void {
    const open = () => lowestOf([...this.#consumers.outstanding(), ...this.#buffer.toRetry]);
    if (!this.#isStopped) this.#checkpoint.mark(open, isTick);
  }

  #goOn(): void {
    this.#mark(false);
    this.#read();
    this.#pushes.ask();
  }

  #push(): void {
    if (!this.#isStopped) this.#buffer.push((message, isRetry) => this.#offer(message, isRetry));
  }

  #offer(offered: Message, isRetry: boolean): PushResult | 'moved' {
    const { countsSkipped = true } = this.#options;
    const message = this.#checkpoint.numbered(offered);
    const result = this.#consumers.push(message);
    if (result === 'sent') this.#pushed += 1;
    const isMoved = result === 'skipped' && countsSkipped && !isRetry;
    if (message !== offered && (result === 'sent' || isMoved)) this.#checkpoint.passed(message);
    if (isMoved) this.#buffer.addRetryToEnd(message);
    return isMoved ? 'moved' : result;
  }

  #retryOrPark(message: Message): void {
    if (message.retryCount < this.settings.maxRetryCount) return this.#retry(message);
    this.#consumers.release(message.event.id);
    void this.parked.park(message.event);
  }

  #retry(message: Message): void {
    this.#consumers.release(message.event.id);
    this.#buffer.addRetry({ ...message, retryCount: message.retryCount + 1 });
  }
}
