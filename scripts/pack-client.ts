import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { bundle } from './client-package/bundle.ts';
import { licenceTexts } from './client-package/licences.ts';

const HELP = `Packs the command-line client as a package of its own: one file without dependencies.

  npm run pack-client -- [--output DIR] [--json]

It compiles client/ for Node 20, joins it with the packages that it uses, and adds their licence texts. The package is
for npm install, or for npm publish. --output: the folder of the package; default: that of the project.
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

const ROOT = path.join(import.meta.dirname, '..');
const NAME = 'source-deposit-client';
/** The first release of Node 20 with all that the client uses. */
const NODE = '>=20.15';

const run = promisify(execFile);

await runCommand(
  HELP,
  async (args) => {
    const { output = '.', json } = readOptions(args, {
      output: { type: 'string' },
      json: { type: 'boolean' },
    });
    const target = path.resolve(output);
    await using scratch = await mkdtempDisposable(path.join(tmpdir(), 'deposit-client-'));
    const folder = path.join(scratch.path, 'package');
    await mkdir(folder);
    await mkdir(target, { recursive: true });
    await writePackage(folder, path.join(scratch.path, 'compiled'));
    const { stdout } = await run('npm', ['pack', folder, '--pack-destination', target, '--json']);
    const [packed] = JSON.parse(stdout) as { filename: string; unpackedSize: number }[];
    const file = path.join(target, packed?.filename ?? '');
    if (json) say(JSON.stringify({ file, unpackedBytes: packed?.unpackedSize }));
    else say(`Packed ${file}.`);
  },
  { mayBeBare: true },
);

async function writePackage(folder: string, compiled: string): Promise<void> {
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  await run(tsc, ['-p', path.join(ROOT, 'tsconfig.client.json'), '--outDir', compiled]);
  const main = path.join(ROOT, 'client', 'main.ts');
  const { code, packages } = bundle(path.join(compiled, 'client', 'main.js'), main);
  const { version, license } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly license: string;
  };
  const manifest = {
    name: NAME,
    version,
    description: 'Deposits software source code on a SWORD 2.0 server, and computes its SWHIDs.',
    license,
    bin: { deposit: 'deposit.js' },
    files: ['deposit.js', 'THIRD-PARTY-LICENSES.txt'],
    engines: { node: NODE },
  };
  await writeFile(path.join(folder, 'deposit.js'), code);
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(packages));
  await copyFile(path.join(ROOT, 'client', 'README.md'), path.join(folder, 'README.md'));
  await copyFile(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  // Not the modes of the checkout, nor those by the umask, which may close the files to other users.
  for (const name of await readdir(folder))
    await chmod(path.join(folder, name), name === 'deposit.js' ? 0o755 : 0o644);
}
