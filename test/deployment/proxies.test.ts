import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../testing/processes/free-port.ts';
import { installed } from '../../testing/processes/installed.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { CERTIFICATE, tlsFiles } from '../../testing/service/tls-files.ts';

/** Addresses and files of a run, in place of those that are shipped. */
type Place = {
  readonly folder: string;
  readonly port: number;
  readonly service: string;
  readonly cert: string;
  readonly key: string;
};
type Proxy = {
  readonly file: string;
  readonly scheme: 'http' | 'https';
  readonly replaced: (place: Place) => Readonly<Record<string, string>>;
  /** Returns the configuration that includes the shipped one. */
  readonly around: (shipped: string, place: Place) => string;
  readonly args: (file: string) => readonly string[];
};

const APACHE_MODULES = '/usr/lib/apache2/modules';
const DEBIAN_MODULES = [
  'mpm_event',
  'authz_core',
  'alias',
  'ssl',
  'proxy',
  'proxy_http',
  'reqtimeout',
  'socache_shmcb',
];

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: 'nginx.conf',
    scheme: 'https',
    replaced: ({ service, port, cert, key }) => ({
      '127.0.0.1:8080': service,
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/ssl/deposit/chain.pem': cert,
      '/etc/ssl/deposit/key.pem': key,
    }),
    around: (shipped, { folder }) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      return `daemon off; pid ${folder}/pid; error_log stderr; events {}
        http { access_log off; ${temporary.join(' ')}\n${shipped} }`;
    },
    args: (file) => ['-c', file],
  },
  apache2: {
    file: 'apache.conf',
    scheme: 'https',
    replaced: ({ service, port, cert, key }) => ({
      '127.0.0.1:8080': service,
      '*:443': `127.0.0.1:${port}`,
      '/etc/ssl/deposit/chain.pem': cert,
      '/etc/ssl/deposit/key.pem': key,
    }),
    around: (shipped, { folder, port }) => {
      const modules = DEBIAN_MODULES.map(
        (name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`,
      );
      const own = [`Listen 127.0.0.1:${port}`, `PidFile ${folder}/pid`, `DefaultRuntimeDir ${folder}`];
      return [...modules, ...own, `ErrorLog ${folder}/error.log`, 'ServerName localhost', shipped].join('\n');
    },
    args: (file) => ['-D', 'FOREGROUND', '-f', file],
  },
  caddy: {
    file: 'Caddyfile',
    scheme: 'https',
    replaced: ({ service, port, cert, key }) => ({
      '127.0.0.1:8080': service,
      'deposit.example.org {': `https://localhost:${port} {\n\ttls ${cert} ${key}\n\tbind 127.0.0.1`,
    }),
    around: (shipped) =>
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${shipped}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    file: 'haproxy.cfg',
    scheme: 'http',
    replaced: ({ service, port, folder }) => ({
      'http-1:8080': service,
      'http-2:8080': service,
      ' :8080': ` 127.0.0.1:${port}`,
      '127.0.0.1:8404': `${folder}/alive`,
    }),
    around: (shipped) => shipped,
    args: (file) => ['-db', '-f', file],
  },
};

for (const [name, proxy] of Object.entries(PROXIES)) {
  const program = installed(name) ?? [`/usr/sbin/${name}`].find((file) => existsSync(file));
  const unless = program === undefined ? ` (not run: ${name} is not installed)` : '';
  (program === undefined ? test.skip : test)(
    `${name} as shipped publishes the service without its health, with headers of 14 KB${unless}`,
    async (t) => {
      await using service = await RunningService.start({ trustProxy: true });
      const statusOf = await startProxy(t, program as string, proxy, new URL(service.url).host);
      t.is(await statusOf('/1/servicedocument/'), 401);
      t.is(await statusOf('/1/servicedocument/', 'x'.repeat(14_000)), 401);
      for (const target of ['/health/live', '/health/ready', '/%68ealth/live'])
        t.is(await statusOf(target), 404, target);
      t.is((await fetch(`${service.url}/health/live`)).status, 200);
    },
  );
}

type StatusOf = (target: string, header?: string) => Promise<number>;

/** Starts a proxy with the shipped configuration, but for its addresses; resolves to a client of it. */
async function startProxy(
  t: ExecutionContext,
  program: string,
  proxy: Proxy,
  service: string,
): Promise<StatusOf> {
  const tls = await tlsFiles();
  const place = { ...tls, folder: await temporaryFolder(t), port: await freePort(), service };
  const shipped = await readFile(path.join(import.meta.dirname, '../../deploy', proxy.file), 'utf8');
  const adapted = Object.entries(proxy.replaced(place)).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    shipped,
  );
  const file = path.join(place.folder, proxy.file);
  await writeFile(file, proxy.around(adapted, place));
  const env = {
    ...process.env,
    HOME: place.folder,
    XDG_DATA_HOME: place.folder,
    XDG_CONFIG_HOME: place.folder,
  };
  const running = spawn(program, proxy.args(file), { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  running.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  t.teardown(async () => {
    running.kill();
    if (running.exitCode === null) await once(running, 'exit');
  });
  const statusOf: StatusOf = async (target, header = '') => {
    const { request } = proxy.scheme === 'http' ? http : https;
    const options = {
      ca: CERTIFICATE,
      servername: 'localhost',
      headers: { Host: 'localhost', 'X-Long': header },
      path: target,
    };
    const req = request({ ...options, host: '127.0.0.1', port: place.port, agent: false }).end();
    const [res] = (await once(req, 'response')) as [http.IncomingMessage];
    res.resume();
    return res.statusCode ?? 0;
  };
  await until(() =>
    statusOf('/').then(
      (status) => status === 200,
      (error: Error) => {
        if (running.exitCode !== null) throw new Error(`${program} ended: ${said}`, { cause: error });
        return false;
      },
    ),
  );
  return statusOf;
}
