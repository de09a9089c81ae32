import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { SqliteEventLog } from '../../../src/event-log/sqlite/sqlite-event-log.ts';

/*
 * node appends-and-reports.ts <file> <name> <writers> <events each>: writes a line `<stream> <revision> <id>` for
 * every append as soon as it is acknowledged.
 */
const [file = '', name = '', writers = '1', count = '1'] = process.argv.slice(2);
const log = await SqliteEventLog.open({ file });
await Promise.all(Array.from({ length: Number(writers) }, (_, number) => write(`${name}-${number}`)));
await log[Symbol.asyncDispose]();

async function write(stream: string): Promise<void> {
  for (let revision = 0; revision < Number(count); revision += 1) {
    const id = randomUUID();
    const event = {
      id,
      type: 'NoteTaken',
      data: { text: 'x'.repeat(300) },
      metadata: { hash: `hash-of-${id}` },
    };
    await log.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
    writeSync(1, `${stream} ${revision} ${id}\n`);
  }
}
