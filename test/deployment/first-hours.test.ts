import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import anyTest, { type TestFn } from 'ava';
import { followPage, INSTALL } from '../../testing/documents/followed-page.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const TIMEOUT_MS = 600_000;
const run = promisify(execFile);

/** The clone, and the reason why it could not be installed. */
type Context = { clone: string; notInstalled?: string };
const test = anyTest as TestFn<Context>;

test.before('a clone of the repository is installed', async (t) => {
  t.timeout(TIMEOUT_MS);
  t.context.clone = await mkdtemp(path.join(tmpdir(), 'first-hours-'));
  await run('git', ['clone', '-q', ROOT, t.context.clone]);
  const page = await readFile(path.join(t.context.clone, 'docs/first-hour.md'), 'utf8');
  t.true(page.includes(`\`\`\`sh\n${INSTALL}\n\`\`\``));
  const env = { ...process.env, npm_config_fetch_retries: '3' };
  await run('sh', ['-c', INSTALL], { cwd: t.context.clone, env }).catch((error: Error) => {
    t.context.notInstalled = error.message;
  });
});

test.after.always(({ context: { clone } }) => rm(clone, { recursive: true, force: true }));

for (const page of ['docs/first-hour.md', 'docs/first-hour-auditor.md', 'docs/first-hour-operator.md'])
  test.serial(
    `${page} is followed literally in a fresh clone, and the output is as documented`,
    async (t) => {
      t.timeout(TIMEOUT_MS);
      const { clone, notInstalled } = t.context;
      if (notInstalled !== undefined) {
        t.log(`NOT RUN: "${INSTALL}" failed, as without a registry: ${notInstalled}`);
        return process.env['CI'] === undefined ? t.pass() : t.fail('CI has no registry');
      }
      t.deepEqual(await followPage(page, clone, await temporaryFolder(t)), []);
    },
  );

test('a page whose documented output differs from the actual one is reported', async (t) => {
  const folder = await temporaryFolder(t);
  const page = path.join(folder, 'page.md');
  const block = (output: string) => `\`\`\`sh\necho one; echo two\n\`\`\`\n\n\`\`\`text\n${output}\n\`\`\`\n`;
  for (const [output, differences] of [
    ['one\ntwo', 0],
    ['…\ntwo', 0],
    ['o…\ntwo', 0],
    ['one', 1],
    ['one\nthree', 1],
  ] as const) {
    await writeFile(page, block(output));
    t.is((await followPage(page, folder, folder)).length, differences, output);
  }
});
