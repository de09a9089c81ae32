import path from 'node:path';
import { readConfig } from '../src/config/read-config.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { startService } from '../src/service/service.ts';
import { silentLogger } from '../src/tools/logger.ts';

const HELP = `Measures the list of deposits of a collection, over HTTP, on a log made by bench/generate-log.ts.

  node bench/collection-feed.ts --data-dir FOLDER [--times N]

Prints the median and the slowest of N (50) requests each, in milliseconds; the client is in the same process, and
its time is in them. The views are built first, if the folder has none.
`;

const AUTHORIZATION = `Basic ${Buffer.from('bench:secret').toString('base64')}`;

await runCommand(HELP, async (args) => {
  const values = readOptions(args, { 'data-dir': { type: 'string' }, times: { type: 'string' } });
  if (values['data-dir'] === undefined) throw new UsageError('--data-dir is missing.');
  const times = Number(values.times ?? 50);
  const dataDir = path.resolve(values['data-dir']);
  const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_DATA_DIR: dataDir });
  await using service = await startService({ ...config, roles: ['http'] }, { logger: silentLogger });
  await service.ready;
  const list = new URL('/1/software/', service.url);
  const first = await get(list.href);
  const count = Number(/count>(\d+)</.exec(first)?.[1]);
  const pages = Math.ceil(count / 100);
  const middle = Math.ceil(pages / 2);
  say(`${count} deposits`);
  const measured: Readonly<Record<string, string>> = {
    'first page': '',
    'a page in the middle, by its number': `?page=${middle}`,
    'a page in the middle, as a link leads to it': `?page=${middle}&below=${Math.ceil(count / 2)}`,
    'last page': `?page=${pages}`,
    'first page of status done': '?status=done',
    'a page in the middle of status done': `?status=done&page=${middle}`,
    'status partial, which none has': '?status=partial',
    'versions of one origin': `?origin=${encodeURIComponent('https://bench.example/software/777')}`,
    '1000 deposits': '?page_size=1000',
    'one deposit': '?page_size=1',
  };
  for (const [what, query] of Object.entries(measured)) {
    for (const accept of ['application/xml', 'application/json']) {
      const { median, slowest, bytes } = await measure(new URL(query, list).href, accept, times);
      say(`${what}, ${accept}: ${median.toFixed(1)} ms, ${slowest.toFixed(1)} at most, ${bytes} bytes`);
    }
  }
});

async function measure(url: string, accept: string, times: number) {
  const found: number[] = [];
  let body = '';
  for (let turn = 0; turn < times + 3; turn += 1) {
    const started = performance.now();
    body = await get(url, accept);
    if (turn >= 3) found.push(performance.now() - started); // the first ones warm up
  }
  found.sort((a, b) => a - b);
  return { median: found[Math.floor(times / 2)] ?? NaN, slowest: found.at(-1) ?? NaN, bytes: body.length };
}

async function get(url: string, accept = 'application/xml'): Promise<string> {
  const answer = await fetch(url, { headers: { Authorization: AUTHORIZATION, Accept: accept } });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${body}`);
  return body;
}
