import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { assertGolden } from './golden-file.ts';

const root = path.join(import.meta.dirname, '../..');

/** Returns the names of the commands that npm runs. */
function commandNames(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const names = Object.values(scripts).map(
    (script) => /^node bin\/deposit-service\.js ([\w-]+)/.exec(script)?.[1] ?? [],
  );
  const others = ['bench', 'deposit']; // not in scripts/
  return [...new Set(names.flat())].filter((name) => !others.includes(name)).toSorted();
}

test('the help of all commands and their response to an unknown option match the transcript', async (t) => {
  t.timeout(300_000); // two starts of each command
  const folder = await temporaryFolder(t);
  const parts = [];
  for (const name of commandNames()) {
    const help = await runScript(folder, name, ['--help']);
    const refusal = await runScript(folder, name, ['--nonsense']);
    parts.push(
      `# ${name} --help: ${help.code}\n${help.out}${help.err}`,
      `# ${name} --nonsense: ${refusal.code}\n${refusal.out}${refusal.err}`,
    );
  }
  t.true(parts.length > 40);
  await assertGolden(t, 'commands.txt', parts.join('\n'));
});
