import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { LogProcess } from '../../drills/engines/log-process.ts';
import { StoreProcess } from '../../drills/engines/store-process.ts';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { final, formType, helloForm } from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { installed } from '../../testing/processes/installed.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';

const HAPROXY = installed('haproxy') ?? ['/usr/sbin/haproxy'].find((file) => existsSync(file));
const CONFIGURATION = path.join(import.meta.dirname, '../../deploy/haproxy.cfg');
/** HAProxy sends each client to one node. Of eight, both nodes have some. */
const CLIENTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];

(HAPROXY === undefined ? test.skip : test)(
  'behind HAProxy no request fails when a node is killed or comes back',
  async (t) => {
    t.timeout(600_000);
    const folder = await temporaryFolder(t);
    await using log = await LogProcess.start();
    await using store = await StoreProcess.start();
    const settings = {
      DEPOSIT_EVENT_LOG: log.connectionString,
      DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${store.port}/deposits?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: store.accessKey,
      DEPOSIT_S3_SECRET_KEY: store.secretKey,
    };
    {
      await using eventLog = await openLog(readConfig({ ...settings, DEPOSIT_DATA_DIR: folder }));
      const administration = new AdminCommands(eventLog, { kind: 'operator', name: 'test' });
      for (const name of CLIENTS) {
        await administration.registerClient(name, 'secret');
        await administration.grant(name, 'software');
      }
    }
    const ports = [await freePort(), await freePort()] as const;
    const start = (node: 0 | 1) =>
      ServiceProcess.start(path.join(folder, `node-${node}`), ports[node], settings);
    await using _first = await start(0);
    await using second = await start(1);
    const url = await balancerOf(t, folder, ports);
    const clients = CLIENTS.map((name) => new TestClient(url, name));
    const statuses = new Set<number>();
    const requestAll = async (): Promise<void> => {
      for (const client of clients) {
        statuses.add((await client.post('/1/software/', helloForm, { ...formType, ...final })).status);
        statuses.add((await client.get('/1/software/')).status);
      }
    };
    await requestAll();
    await second.end('SIGKILL');
    await requestAll(); // at once, before the balancer has noticed
    await requestAll();
    await using _again = await start(1);
    for (let times = 0; times < 5; times += 1) await requestAll();
    t.deepEqual(statuses, new Set([201, 200]));
  },
);

(HAPROXY === undefined ? test.skip : test)(
  'HAProxy sends no request to a node that was restarted between two checks until it is ready',
  async (t) => {
    const ports = [await freePort(), await freePort()] as const;
    const [_first, second] = [await Node.listen(t, ports[0]), await Node.listen(t, ports[1])];
    const url = await balancerOf(t, await temporaryFolder(t), ports);
    const statuses = async (): Promise<number[]> => {
      const requests = CLIENTS.map((name) => fetch(url, { headers: { Authorization: name } }));
      return (await Promise.all(requests)).map(({ status }) => status);
    };
    const all = CLIENTS.map(() => 200);
    t.deepEqual(await statuses(), all);
    t.true(second.requests > 0);
    await second.stop();
    t.deepEqual(await statuses(), all);
    const again = await Node.listen(t, ports[1], 503);
    for (let times = 0; times < 3; times += 1) t.deepEqual(await statuses(), all);
    again.status = 200;
    await until(async () => {
      t.deepEqual(await statuses(), all);
      return again.requests > 0;
    });
  },
);

/** Answers all requests like a node that is ready (200), or that builds its views (503). */
class Node {
  readonly #server: http.Server;
  status: number;
  /** The number of requests of clients. */
  requests = 0;

  static async listen(t: ExecutionContext, port: number, status = 200): Promise<Node> {
    const node = new Node(status);
    t.teardown(() => node.stop());
    await once(node.#server.listen(port, '127.0.0.1'), 'listening');
    return node;
  }

  private constructor(status: number) {
    this.status = status;
    this.#server = http.createServer(({ headers }, res) => {
      if (headers.authorization) this.requests += 1;
      res.writeHead(this.status).end();
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server.close(), 'close');
  }
}

/** Starts HAProxy with the configuration that is shipped, but for its addresses; resolves to its URL once it serves. */
async function balancerOf(
  t: ExecutionContext,
  folder: string,
  ports: readonly [number, number],
): Promise<string> {
  const [port, alive] = [await freePort(), await freePort()];
  const shipped = await readFile(CONFIGURATION, 'utf8');
  const addresses = {
    'http-1:8080': ports[0],
    'http-2:8080': ports[1],
    ' :8080': port,
    '127.0.0.1:8404': alive,
  };
  const configuration = Object.entries(addresses).reduce(
    (text, [from, to]) => text.replaceAll(from, `${from.startsWith(' ') ? ' ' : ''}127.0.0.1:${to}`),
    shipped,
  );
  const file = path.join(folder, 'haproxy.cfg');
  await writeFile(file, configuration);
  const balancer = spawn(HAPROXY as string, ['-db', '-f', file], { stdio: 'ignore' });
  t.teardown(async () => {
    balancer.kill();
    await once(balancer, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/1/servicedocument/`).then(
      ({ status }) => status < 500,
      () => false,
    ),
  );
  return url;
}
