import { existsSync, readFileSync } from 'node:fs';
import type { Appended, ExpectedRevision, NewEvent } from '../../src/event-log/event-log.ts';
import { ForwardingEventLog } from '../../src/event-log/forwarding-event-log.ts';
import { MemoryEventLog } from '../../src/event-log/memory-event-log.ts';
import { GroupCommitFile } from './group-commit-file.ts';

type Line = { readonly stream: string; readonly expected: ExpectedRevision; readonly events: NewEvent[] };

/**
 * The cheapest event log that is durable: appends are lines of a group-commit file, and what has been synced is kept
 * in memory to be read. It is to show what the embedded log costs beyond that.
 */
export class RawFileLog extends ForwardingEventLog {
  readonly #file: GroupCommitFile;

  static async open(file: string): Promise<RawFileLog> {
    const memory = new MemoryEventLog();
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines) {
      const { stream, expected, events } = JSON.parse(line) as Line; // written below
      await memory.append(stream, expected, events);
    }
    return new RawFileLog(file, memory);
  }

  private constructor(file: string, memory: MemoryEventLog) {
    super(memory);
    this.#file = new GroupCommitFile(file);
  }

  /** Nothing becomes visible before it is durable. */
  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    await this.#file.append(JSON.stringify({ stream, expected, events }));
    return super.append(stream, expected, events);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#file[Symbol.asyncDispose]();
  }
}
