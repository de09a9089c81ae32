import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { eventually } from '../log-on-double.ts';
import { idsOf, listOf, newEvent } from '../log-under-test.ts';
import { rule } from './server.ts';

const MAIN = path.join(import.meta.dirname, '../../../testing/eventstoredb-double/main.ts');
const [KILLS, WRITERS] = [10, 6];

export function killedWriterRules(): void {
  rule('double', 'after kill -9 no acknowledged append is lost or duplicated', async (t) => {
    const file = path.join(await temporaryFolder(t), 'log.sqlite');
    let [server, port] = await started(file, 0);
    t.teardown(() => server.kill('SIGKILL'));
    const connectionString = `esdb://127.0.0.1:${port}?tls=false`;
    await using log = await EventStoreDbEventLog.open({
      connectionString,
      firstPause: 10,
      callTimeout: 1000,
    });
    const acknowledged: string[] = [];
    const end = new AbortController();
    const writing = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let revision = -1; !end.signal.aborted; revision += 1) {
        const event = newEvent();
        await log.append(`stream-${writer}`, revision < 0 ? 'none' : revision, [event]);
        acknowledged.push(event.id);
      }
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = acknowledged.length;
      await eventually(() => acknowledged.length > before + WRITERS);
      server.kill('SIGKILL');
      await once(server, 'exit');
      [server] = await started(file, port);
    }
    end.abort();
    await Promise.all(writing);
    const stored = idsOf(await listOf(log.readAll()));
    t.true(acknowledged.length > KILLS * WRITERS);
    t.deepEqual(stored.toSorted(), acknowledged.toSorted());
  });
}

async function started(file: string, port: number): Promise<[ChildProcess, number]> {
  const child = spawn(process.execPath, [MAIN, String(port), '--file', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return [child, Number(line)];
}
