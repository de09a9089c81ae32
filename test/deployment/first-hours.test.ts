import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import anyTest, { type TestFn } from 'ava';
import { followPage, INSTALL, newcomerEnvironment } from '../../testing/documents/followed-page.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const TIMEOUT_MS = 600_000;
const run = promisify(execFile);

/** The folder of the clone, and the reason why it could not be made or installed. */
type Context = { folder: string; notInstalled?: string };
const test = anyTest as TestFn<Context>;

test.before('a clone of the repository is installed', async (t) => {
  t.timeout(TIMEOUT_MS);
  t.context.folder = await mkdtemp(path.join(tmpdir(), 'first-hours-'));
  const { folder } = t.context;
  const [clone, config] = [path.join(folder, 'clone'), path.join(folder, 'gitconfig')];
  try {
    await writeFile(config, '[safe]\n\tdirectory = *\n'); // the checkout may belong to another user
    const env = { ...newcomerEnvironment(), GIT_CONFIG_GLOBAL: config, npm_config_fetch_retries: '3' };
    await run('git', ['clone', '-q', ROOT, clone], { env });
    const page = await readFile(path.join(clone, 'docs/first-hour.md'), 'utf8');
    t.true(page.includes(`\`\`\`sh\n${INSTALL}\n\`\`\``));
    await run('sh', ['-c', INSTALL], { cwd: clone, env });
  } catch (error) {
    t.context.notInstalled = (error as Error).message;
  }
});

test.after.always(({ context: { folder } }) => rm(folder, { recursive: true, force: true }));

for (const page of ['docs/first-hour.md', 'docs/first-hour-auditor.md', 'docs/first-hour-operator.md'])
  test.serial(
    `${page} is followed literally in a fresh clone, and the output is as documented`,
    async (t) => {
      t.timeout(TIMEOUT_MS);
      const { folder, notInstalled } = t.context;
      if (notInstalled !== undefined) {
        t.log(`NOT RUN: no clone, or "${INSTALL}" failed in it, as without a registry: ${notInstalled}`);
        const mustRun = process.env['CI'] !== undefined && existsSync(path.join(ROOT, '.git'));
        return mustRun ? t.fail('CI has a repository and a registry') : t.pass();
      }
      t.deepEqual(await followPage(page, path.join(folder, 'clone'), await temporaryFolder(t)), []);
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
