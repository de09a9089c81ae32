import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import test from 'ava';
import { clock } from '../../src/tools/clock.ts';

const PROGRAM = `
  const { createLogger } = await import(process.argv[1]);
  const logger = createLogger('info');
  let [last, longest] = [performance.now(), 0];
  const measure = setInterval(() => {
    const now = performance.now();
    [last, longest] = [now, Math.max(longest, now - last)];
  }, 10);
  for (let line = 0; line < 2000; line += 1) logger.info({ line, text: 'x'.repeat(200) }, 'request');
  setTimeout(() => {
    clearInterval(measure);
    logger.info({ longest }, 'longest pause');
  }, 500);
`;

test('a reader that is slow stops no work, and gets every line', async (t) => {
  const logger = new URL('../../src/tools/logger.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM, logger], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await clock.sleep(2000);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  await exited;
  t.is(lines.length, 2001);
  t.true(JSON.parse(lines.at(-1) ?? '').longest < 1500, lines.at(-1));
});

const MANY_LINES = `
  const { createLogger } = await import(process.argv[1]);
  const logger = createLogger('info');
  const text = 'x'.repeat(10_000);
  for (let line = 0; line < 30_000; line += 1) {
    logger.info({ line, text }, 'request');
    if (line % 100 === 0) await new Promise(setImmediate);
  }
  process.send(process.memoryUsage().rss);
  process.disconnect();
`;

test('lines that are not read use little memory', async (t) => {
  const logger = new URL('../../src/tools/logger.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', MANY_LINES, logger], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [rss] = (await once(child, 'message')) as [number];
  const written = text(child.stdout as Readable);
  t.true(rss < 250 * 1024 ** 2, `${rss} bytes`);
  const lines = (await written).trimEnd().split('\n');
  t.true(lines.length > 100, 'what waits is still written');
  t.notThrows(() => lines.map((line) => JSON.parse(line) as object));
});

const ODD_TEXT = 'a\u009b31m\u202eb\u2028c\u007fd\u001b[8me';
const ODD_LINES = `
  const { createLogger, terminalStream } = await import(process.argv[1]);
  const logger = createLogger('info', process.argv[3] === 'terminal' ? await terminalStream() : undefined);
  logger.info({ client: process.argv[2] }, 'login failed');
  logger.error({ err: new Error(process.argv[2]) }, 'fault');
`;

for (const reader of ['program', 'terminal'] as const)
  test(`a line for a ${reader} has no character that a terminal executes or hides`, async (t) => {
    const logger = new URL('../../src/tools/logger.ts', import.meta.url).href;
    const child = spawn(
      process.execPath,
      ['--input-type=module', '--eval', ODD_LINES, logger, ODD_TEXT, reader],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const written = await text(child.stdout);
    const withoutColours = stripVTControlCharacters(written);
    t.regex(reader === 'terminal' ? withoutColours : written, /^[\x20-\x7e\n]+$/);
    t.regex(written, /\\u202eb/);
    if (reader === 'terminal') t.true(written.includes('\u001b[32mINFO'), 'the colours remain');
    else t.is((JSON.parse(written.split('\n')[0] ?? '') as { client: string }).client, ODD_TEXT);
  });
