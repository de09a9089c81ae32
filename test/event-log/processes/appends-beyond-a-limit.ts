import { randomUUID } from 'node:crypto';
import { EventLogUnavailable } from '../../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../../src/event-log/sqlite/sqlite-event-log.ts';

/*
 * node appends-beyond-a-limit.ts <file>, with a limit on the size of files: the system refuses writes beyond it.
 * Appends three times at once: a large event, and small ones in the same turn and afterwards; checks whether the log
 * is ready after it failed. Prints the result of each.
 */
const log = await SqliteEventLog.open({ file: process.argv[2] ?? '' });
const outcomes = [
  ...(await Promise.all([outcomeOf('large', 100), outcomeOf('beside', 1)])),
  await outcomeOf('afterwards', 1),
  await outcomeOf('large', 100),
  await log.ready().then(() => 'ready', String), // requested of the file itself, since the last append failed
  await outcomeOf('last', 1),
];
await log[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify(outcomes));

async function outcomeOf(stream: string, count: number): Promise<string> {
  const events = Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'NoteTaken',
    data: { text: 'x'.repeat(20_000) },
    metadata: {},
  }));
  try {
    await log.append(stream, 'none', events);
    return 'appended';
  } catch (error) {
    return error instanceof EventLogUnavailable ? error.code : String(error);
  }
}
