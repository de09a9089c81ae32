import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { SqliteEventLog } from '../../../src/event-log/sqlite/sqlite-event-log.ts';

/*
 * node appends-until-refused.ts <file>, with a limit on the size of files: the database reaches it first, the WAL much
 * later. Appends events of 1 MiB until one is refused. Prints the size of the WAL in MiB, and why the log is not ready.
 */
const file = process.argv[2] ?? '';
const log = await SqliteEventLog.open({ file });
while (await isAppended());
const mebibytes = statSync(`${file}-wal`).size / 1024 ** 2;
const readiness = await log.ready().then(() => 'ready', String);
await log[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify({ mebibytes, readiness }));

function isAppended(): Promise<boolean> {
  const data = { text: 'x'.repeat(1024 ** 2) };
  return log.append(randomUUID(), 'none', [{ id: randomUUID(), type: 'NoteTaken', data, metadata: {} }]).then(
    () => true,
    () => false,
  );
}
