import { writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CatchUpDeliveries } from '../../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { SqliteEventLog } from '../../../src/event-log/sqlite/sqlite-event-log.ts';
import { EventLogParking } from '../../../src/reactors/parking.ts';
import { ReactorRunner } from '../../../src/reactors/reactor-runner.ts';
import { onUncaughtException } from '../../../src/service/process/on-uncaught-exception.ts';
import { silentLogger } from '../../../src/tools/logger.ts';

/*
 * node crashes-on-an-event.ts <folder> <streams that have to be completed>. Handles the events of the log in the
 * folder, four at a time, and crashes on that of `job-killer`; that of `job-thrower` throws an exception that no code
 * catches, after which it stops gracefully. Prints a line when each event is begun and when it is completed.
 */
const [folder = '', streams = ''] = process.argv.slice(2);
const left = new Set(streams.split(','));
await using log = await SqliteEventLog.open({ file: path.join(folder, 'log.sqlite') });
const done = Promise.withResolvers<void>();
const reactor = {
  name: 'tested',
  streamPrefix: 'job-',
  reactsTo: () => true,
  hasWork: async () => true,
  ownerOf: async ({ stream }: { stream: string }) => stream,
  giveUp: async () => undefined,
  react: async ({ stream }: { stream: string }) => {
    writeSync(1, `${stream} begun\n`);
    await setTimeout(stream === 'job-killer' ? 100 : 1000); // after the others have begun, before they are done
    if (stream === 'job-killer') process.kill(process.pid, 'SIGKILL');
    if (stream === 'job-thrower') await endlessly();
    writeSync(1, `${stream} done\n`);
    left.delete(stream);
    if (left.size === 0) done.resolve();
  },
};
const deliveries = new CatchUpDeliveries(log, path.join(folder, 'checkpoints'));
const parking = new EventLogParking(log);
const runner = new ReactorRunner(reactor, {
  deliveries,
  parking,
  logger: silentLogger,
  slots: 4,
  firstPause: 300,
});
runner.start(done.reject);
const uncaught = onUncaughtException(silentLogger);
await Promise.race([done.promise, uncaught]).catch(() => (process.exitCode = 1));
await runner.stop();

function endlessly(): Promise<never> {
  setImmediate(() => {
    throw new Error('thrown and never caught');
  });
  return new Promise(() => undefined);
}
