import type { ExecutionContext } from 'ava';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { killedAppending } from './appending-process.ts';
import { newLogFile } from './log-file.ts';
import { listOf, revisionsOf, upTo } from './log-under-test.ts';

/**
 * Asserts that a log has every event that a process reported before it was killed. Each count is the number of reports
 * after which a process is killed.
 */
export async function losesNoEvents(t: ExecutionContext, counts: readonly number[]): Promise<void> {
  const file = await newLogFile(t);
  for (const [round, count] of counts.entries()) {
    const acknowledged = await killedAppending(file, `round${round}`, count);
    const log = await SqliteEventLog.open({ file });
    const all = await listOf(log.readAll());
    const places = new Map(all.map(({ id, stream, revision }) => [id, `${stream} ${revision}`]));
    t.true(acknowledged.length >= 20);
    for (const { id, stream, revision } of acknowledged) t.is(places.get(id), `${stream} ${revision}`);
    for (const [stream, events] of Map.groupBy(all, (event) => event.stream)) {
      t.deepEqual(revisionsOf(events), upTo(events.length), stream);
    }
    await log[Symbol.asyncDispose]();
  }
}
