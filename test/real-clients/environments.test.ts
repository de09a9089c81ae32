import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { type Environment, javaClients, pythonClients } from './environments.ts';

const INSTALLERS = [
  ['python3', pythonClients, 'pip install'],
  ['mvn', javaClients, 'copy-dependencies'],
] as const;

for (const [program, install, step] of INSTALLERS) {
  test.serial(
    `clients installed by ${program} are missing without it, and a fault if it fails`,
    async (t) => {
      const [programs, cache] = [await temporaryFolder(t), await temporaryFolder(t)];
      const installIn = () => inEnvironment({ PATH: programs, XDG_CACHE_HOME: cache }, install);
      t.like(await installIn(), { isFault: false });

      await writeProgram(programs, 'java', 'exit 0');
      const fail = `case "$*" in *"${step}"*) echo 'no such version' >&2; exit 1;; esac`;
      await writeProgram(programs, program, fail);
      t.deepEqual(await installIn(), { missing: 'they cannot be installed: no such version', isFault: true });
      t.deepEqual(readdirSync(path.join(cache, 'source-deposit-service')), []);

      await writeProgram(programs, program, 'exit 0');
      const installed = await installIn();
      t.true('folder' in installed);
      await writeProgram(programs, program, fail);
      t.deepEqual(await installIn(), installed, 'an installed client is installed once');
    },
  );
}

async function writeProgram(folder: string, name: string, script: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Runs `work` with these variables in the environment of the process. */
async function inEnvironment(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Environment>,
): Promise<Environment> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}
