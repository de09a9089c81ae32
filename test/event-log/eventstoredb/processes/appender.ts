import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { EventStoreDbEventLog } from '../../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { EventStoreDbOptions } from '../../../../src/event-log/eventstoredb/settings.ts';

/*
 * node eventstoredb-appender.ts <options> <streams> <linger>
 * Appends to several streams at once, waits for `linger` milliseconds and appends to one more. Names each outcome on a
 * line. With SPOILED=yes it then rejects a promise that it does not handle, as a defect of our own code would.
 */
const [options = '{}', streams = '1', linger = '0'] = process.argv.slice(2);
const log = await EventStoreDbEventLog.open(JSON.parse(options) as EventStoreDbOptions);
await Promise.all(Array.from({ length: Number(streams) }, (_, number) => append(`first-${number}`)));
await setTimeout(Number(linger));
await append('later');
if (process.env['SPOILED'] === 'yes') void Promise.reject(new Error('a defect of our own'));
await setTimeout(10);
await log[Symbol.asyncDispose]();

async function append(stream: string): Promise<void> {
  const event = { id: randomUUID(), type: 'NoteTaken', data: {}, metadata: {} };
  const outcome = await log.append(stream, 'none', [event]).then(
    () => 'appended',
    ({ code, message }: Error & { code?: string }) => code ?? message,
  );
  process.stdout.write(`${stream} ${outcome}\n`);
}
