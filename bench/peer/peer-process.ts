import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../testing/processes/free-port.ts';
import { until } from '../../testing/processes/until.ts';
import { NotMeasured } from '../frame/not-measured.ts';
import { CLIENT } from '../servers/benched-service.ts';
import { installPeer, PYTHON } from './install-peer.ts';

const DEBIAN_POSTGRES = '/usr/lib/postgresql';
const run = promisify(execFile);

/**
 * The deposit server of Software Heritage, under gunicorn with two workers and a PostgreSQL of its own. Its storage is
 * in memory, and its scheduler does nothing.
 */
export class PeerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #running: AsyncDisposableStack;

  /** Installs the peer once, into the cache. @throws {NotMeasured} it cannot be installed here */
  static async start(cache: string): Promise<PeerProcess> {
    await using running = new AsyncDisposableStack();
    const python = await installPeer(cache);
    const folder = await mkdtemp(path.join(tmpdir(), 'deposit-peer-'));
    running.defer(() => rm(folder, { recursive: true, force: true }));
    await startPostgres(running, folder);
    const env = { ...process.env, ...(await settingsIn(folder)) };
    await run(python, [path.join(PYTHON, 'prepare_peer.py'), ...Object.values(CLIENT)], { env });
    const port = await freePort();
    const how = ['--workers', '2', '--worker-class', 'gthread', '--threads', '4', '--keep-alive', '75'];
    const where = ['--bind', `127.0.0.1:${port}`, 'django.core.wsgi:get_wsgi_application()'];
    stopAtEnd(
      running,
      spawn(python, ['-m', 'gunicorn', ...how, ...where], { env, stdio: 'ignore' }),
      'SIGTERM',
    );
    const peer = new PeerProcess(`http://127.0.0.1:${port}`, running.move());
    await until(() => succeeds(fetch(peer.url)));
    return peer;
  }

  private constructor(url: string, running: AsyncDisposableStack) {
    this.url = url;
    this.#running = running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.disposeAsync();
  }
}

async function startPostgres(running: AsyncDisposableStack, folder: string): Promise<void> {
  const versions = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES) : [];
  const version = versions.sort((one, other) => Number(other) - Number(one))[0];
  if (version === undefined)
    throw new NotMeasured('no peer: PostgreSQL is not installed (apt-get install postgresql).');
  const bin = path.join(DEBIAN_POSTGRES, version, 'bin');
  const user = await userOfPostgres();
  await chown(folder, user.uid, user.gid);
  const data = path.join(folder, 'postgres');
  await run(path.join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust'], {
    ...user,
    cwd: folder,
  });
  const args = ['-D', data, '-k', folder, '-c', 'listen_addresses='];
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const;
  stopAtEnd(running, spawn(path.join(bin, 'postgres'), args, options), 'SIGINT'); // a fast shutdown
  const isReady = ['-h', folder, '-U', 'postgres'];
  await until(() => succeeds(run(path.join(bin, 'pg_isready'), isReady)));
}

/** Resolves to the user that PostgreSQL runs as, which refuses root. */
async function userOfPostgres(): Promise<{ readonly uid: number; readonly gid: number }> {
  const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1];
  if (uid !== 0) return { uid, gid };
  const id = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Writes the configuration of the peer. Resolves to the environment of its programs. */
async function settingsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const media = path.join(folder, 'media');
  await mkdir(media);
  const memory = { cls: 'memory' };
  const database = { name: 'postgres', user: 'postgres', host: folder };
  const configuration = {
    scheduler: { cls: 'none' },
    storage: memory,
    storage_metadata: memory,
    authentication_provider: 'basic',
    private: { secret_key: 'bench', db: database, media_root: media },
  };
  const file = path.join(folder, 'peer.yml');
  await writeFile(file, JSON.stringify(configuration)); // JSON is YAML
  return {
    SWH_CONFIG_FILENAME: file,
    DJANGO_SETTINGS_MODULE: 'peer_settings',
    PYTHONPATH: PYTHON,
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

function stopAtEnd(running: AsyncDisposableStack, child: ChildProcess, signal: NodeJS.Signals): void {
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => resolve()).once('error', () => resolve()),
  );
  running.defer(async () => {
    child.kill(signal);
    await ended;
  });
}

async function succeeds(attempt: Promise<unknown>): Promise<boolean> {
  return await attempt.then(
    () => true,
    () => false,
  );
}
