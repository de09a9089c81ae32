import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { freePort } from '../../testing/processes/free-port.ts';
import { until } from '../../testing/service/running-service.ts';
import { answers, commandsIn, shown } from './page-commands.ts';

const root = path.join(import.meta.dirname, '../..');

test('a newcomer who follows docs/first-hour.md literally sees what it shows', async (t) => {
  t.timeout(300_000);
  const home = await mkdtemp(path.join(tmpdir(), 'first-hour-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const port = String(await freePort());
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    DEPOSIT_DATA_DIR: path.join(home, 'data'),
    DEPOSIT_PORT: port,
  };
  const service = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  t.teardown(async () => {
    service.kill('SIGTERM');
    if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  });
  let welcome = '';
  service.stderr.on('data', (text) => (welcome += String(text)));
  await until(async () => welcome.includes('A first deposit:') || service.exitCode !== null);
  t.regex(welcome, /A client "demo" was registered/);

  const page = await readFile(path.join(root, 'docs/first-hour.md'), 'utf8');
  const commands = commandsIn(page.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`));
  t.true(commands.length > 10);
  const different: string[] = [];
  for (const { command, answer } of commands) {
    const output = await shown(command, root, env);
    if (!answers(output, answer)) different.push(`$ ${command}\n${output}`);
  }
  t.deepEqual(different, []);
});

test('an answer that differs from its page is found', (t) => {
  const [first, second, ...others] = commandsIn('x\n```console\n$ a b\n1 … 3\n…\nend\n$ c\n```\n$ d\n');
  t.deepEqual([first?.command, second, others], ['a b', { command: 'c', answer: [] }, []]);
  const expected = first?.answer ?? [];
  for (const right of ['1 2 3\nend\n', '1  3\nx\ny\nend\n']) t.true(answers(right, expected), right);
  for (const wrong of ['', '1 2 3\n', '1 2 4\nend\n', '1 2 3\nend\nmore\n', 'x\n1 2 3\nend\n'])
    t.false(answers(wrong, expected), wrong);
  t.true(answers('', []));
  t.false(answers('said something\n', []));
});
