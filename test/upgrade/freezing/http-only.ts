import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endProcess } from '../../../testing/processes/end-process.ts';
import { type Env, OldRelease, type OldService } from './old-release.ts';

/**
 * Starts the service of the old release on embedded engines without its reactors, as a process of its own. No setting
 * can do that; it is as a service whose reactors have not come to anything yet.
 */
export async function startHttpOnly(
  release: OldRelease,
  dataDir: string,
  settings: Env,
): Promise<OldService> {
  const env = { ...process.env, ...settings, DEPOSIT_DATA_DIR: dataDir, DEPOSIT_PORT: '0' };
  const args = [import.meta.filename, release.checkout];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([once(lines, 'line'), ended(child)])) as [string];
  return {
    url,
    end: (signal) => endProcess(child, signal),
  };
}

async function ended(child: ChildProcess): Promise<never> {
  await once(child, 'exit');
  throw new Error(`The service ended with ${child.exitCode}.`);
}

/** The process: prints where it listens once it is ready, and stops at SIGTERM. */
async function serve(checkout: string): Promise<void> {
  const release = new OldRelease(checkout);
  const { readConfig } = await release.import('src/config.ts');
  const { startService } = await release.import('src/service.ts');
  const { silentLogger } = await release.import('src/logger.ts');
  const config = { ...readConfig(process.env), roles: ['http'] };
  const service = await startService(config, { logger: silentLogger });
  await service.ready;
  process.stdout.write(`${service.url}\n`);
  await once(process, 'SIGTERM');
  await service[Symbol.asyncDispose]();
}

if (import.meta.main) await serve(process.argv[2] ?? '');
