import { existsSync, readFileSync } from 'node:fs';
import type { Appended, ExpectedRevision, NewEvent } from '../../src/event-log/event-log.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { GroupCommitFile } from './group-commit-file.ts';

type Line = { readonly stream: string; readonly expected: ExpectedRevision; readonly events: NewEvent[] };

/**
 * The cheapest durable event log: appends are lines of a group-commit file, and synced events are kept in memory to be
 * read. The difference to the embedded log is what that log costs.
 */
export class RawFileLog extends MemoryEventLog {
  readonly #file: GroupCommitFile;

  static async open(file: string): Promise<RawFileLog> {
    const log = new RawFileLog(file);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    for (const line of lines) {
      const { stream, expected, events } = JSON.parse(line) as Line; // written below
      await MemoryEventLog.prototype.append.call(log, stream, expected, events);
    }
    return log;
  }

  private constructor(file: string) {
    super();
    this.#file = new GroupCommitFile(file);
  }

  /** Events become visible only when they are durable. */
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
