import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { installed } from '../../testing/processes/installed.ts';

/** A folder with installed clients, or what is missing; `isFault` when the tools that install them are there. */
export type Environment =
  | { readonly folder: string }
  | { readonly missing: string; readonly isFault: boolean };

const run = promisify(execFile);
const INSTALL_MS = 900_000;

/** Installs the packages of requirements.txt, which names every version, once and outside of the checkout. */
export async function pythonClients(): Promise<Environment> {
  const requirements = path.join(import.meta.dirname, 'python/requirements.txt');
  if (!(await runs('python3', ['-m', 'pip', '--version'])))
    return { missing: 'python3 with pip is not on the path.', isFault: false };
  return await installOnce('python', requirements, (folder) =>
    run(
      'python3',
      [
        '-m',
        'pip',
        'install',
        '--disable-pip-version-check',
        '--quiet',
        '--target',
        folder,
        '-r',
        requirements,
      ],
      {
        timeout: INSTALL_MS,
      },
    ),
  );
}

/** Copies the libraries that pom.xml names, with what they need, once and outside of the checkout. */
export async function javaClients(): Promise<Environment> {
  const pom = path.join(import.meta.dirname, 'java/pom.xml');
  if (installed('mvn') === undefined || !(await runs('java', ['-version'])))
    return { missing: 'java and mvn are not on the path.', isFault: false };
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  return await installOnce('java', pom, (folder) =>
    run('mvn', ['--batch-mode', '--quiet', '--file', pom, plugin, `-DoutputDirectory=${folder}`], {
      timeout: INSTALL_MS,
    }),
  );
}

/** Installs into a folder that is named after the contents of the list, and renamed when it is whole. */
async function installOnce(
  name: string,
  list: string,
  install: (folder: string) => Promise<unknown>,
): Promise<Environment> {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  const version = createHash('sha256')
    .update(await readFile(list))
    .digest('hex')
    .slice(0, 16);
  const folder = path.join(cache, 'source-deposit-service', `clients-${name}-${version}`);
  if (existsSync(folder)) return { folder };
  const building = `${folder}.${process.pid}`;
  try {
    await mkdir(building, { recursive: true });
    await install(building);
    await rename(building, folder);
    return { folder };
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    const { stderr = '', message } = error as Error & { stderr?: string };
    const [reason = message] = stderr.trim().split('\n').slice(-1);
    return { missing: `they cannot be installed: ${reason || message}`, isFault: true };
  }
}

async function runs(program: string, args: readonly string[]): Promise<boolean> {
  return await run(program, args).then(
    () => true,
    () => false,
  );
}
