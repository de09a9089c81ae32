import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { SqliteEventLog } from '../../src/event-log/sqlite-event-log.ts';
import { eventLogContract } from './contract.ts';

eventLogContract({
  durable: true,
  startsEmpty: true,
  place: async (t) => {
    const file = await newLogFile(t);
    return { open: () => SqliteEventLog.open({ file }) };
  },
});
async function newLogFile(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'event-log-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'log.sqlite');
}
