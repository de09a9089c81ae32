import { existsSync, readFileSync } from 'node:fs';
import type {
  Appended,
  EventLog,
  ExpectedRevision,
  NewEvent,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../src/event-log/event-log.ts';
import { MemoryEventLog } from '../../src/event-log/memory-event-log.ts';
import { GroupCommitFile } from './group-commit-file.ts';

type Line = { readonly stream: string; readonly expected: ExpectedRevision; readonly events: NewEvent[] };

/**
 * The cheapest event log that is durable: appends are lines of a group-commit file, and what has been synced is kept
 * in memory to be read. It is to show what the embedded log costs beyond that.
 */
export class RawFileLog implements EventLog {
  readonly #file: GroupCommitFile;
  readonly #memory = new MemoryEventLog();

  static async open(file: string): Promise<RawFileLog> {
    const log = new RawFileLog(file);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines) {
      const { stream, expected, events } = JSON.parse(line) as Line; // written below
      await log.#memory.append(stream, expected, events);
    }
    return log;
  }

  private constructor(file: string) {
    this.#file = new GroupCommitFile(file);
  }

  /** Nothing becomes visible before it is durable. */
  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    await this.#file.append(JSON.stringify({ stream, expected, events }));
    return this.#memory.append(stream, expected, events);
  }

  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<RecordedEvent> {
    return this.#memory.readStream(stream, options);
  }

  readAll(options?: ReadAllOptions): AsyncIterable<RecordedEvent> {
    return this.#memory.readAll(options);
  }

  subscribe(options?: SubscribeOptions): AsyncIterable<SubscriptionMessage> {
    return this.#memory.subscribe(options);
  }

  head(): Promise<Position | undefined> {
    return this.#memory.head();
  }

  ready(): Promise<void> {
    return this.#memory.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#memory[Symbol.asyncDispose]();
    await this.#file[Symbol.asyncDispose]();
  }
}
