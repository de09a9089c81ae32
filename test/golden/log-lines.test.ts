import test from 'ava';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { keptLines, type Line } from '../../testing/service/kept-lines.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { assertGolden } from './golden-file.ts';

/** Returns level, message and the names of the fields of lines: each once, in the order of the alphabet. */
function described(lines: readonly Line[]): string {
  const texts = lines.map(({ level, msg, ...fields }) => {
    const names = Object.keys(fields).toSorted();
    const title = msg === 'event' ? `event ${String(fields['type'])}` : msg;
    return `${level} | ${title} | ${names.join(' ')}`;
  });
  return `${[...new Set(texts)].toSorted().join('\n')}\n`;
}

test('the log lines of a start, a deposit, a rejection and a stop have the fields of the transcript', async (t) => {
  const { logger, lines } = keptLines();
  await using service = await RunningService.start({}, logger);
  const alice = await service.register('alice', { collections: ['software'] });
  const wrong = new TestClient(service.url, 'alice', 'wrong');
  await wrong.get('/1/servicedocument/');
  const entries = [entryPart(), entryPart(entryXml('<title>Without an author</title>'))];
  for (const entry of entries)
    await alice.post('/1/software/', formOf([archivePart(), entry]), { ...formType, ...final });
  await alice.waitFor('/1/software/1/status/', 'done');
  await alice.waitFor('/1/software/2/status/', 'rejected');
  await service.stop();
  const settings = { DEPOSIT_LOG_LEVEL: 'info' };
  await using alone = await ServiceProcess.start(service.folder, await freePort(), settings);
  await alone.end('SIGTERM');
  const printed = alone.said.split('\n').filter((line) => line.startsWith('{'));
  const ofProcess = printed.map((line) => JSON.parse(line) as Line);
  const parts = [`# In a program\n${described(lines)}`, `# As a process\n${described(ofProcess)}`];
  await assertGolden(t, 'log-lines.txt', parts.join('\n'));
});
