import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';

const root = path.join(import.meta.dirname, '..');

/** Node, and the room through which the outside world is reached. */
const OUTSIDE = [/^node:/, /^src\/tools\//];

/** Who may import whom, as docs/architecture.md has it. The first room whose folder fits a file is its room. */
const ROOMS: Readonly<Record<string, readonly RegExp[]>> = {
  'src/config/': [
    ...OUTSIDE,
    /^src\/(config\/|config\.ts$|loopback\.ts$)/,
    /^src\/archive-store\/s3-url\.ts$/,
    /^src\/archives\/inspection\.ts$/,
    /^src\/sword\/namespaces\.ts$/,
  ],
  'src/process/': [
    ...OUTSIDE,
    /^src\/(process\/|[^/]+\.ts$)/,
    /^src\/sqlite\/codes\.ts$/,
    /^src\/event-log\/(event-log|event-log-refused)\.ts$/,
    /^src\/read-models\/projector\.ts$/,
  ],
  // Puts everything together, but for the engines: see the test below.
  'src/service/': [/^src\/(?!process)/, /^projections\//],
  'src/tools/': [...OUTSIDE],
  'src/sqlite/': [...OUTSIDE, /^src\/sqlite\//],
  'src/domain/': [/^src\/domain\//],
  'src/swhid/': [...OUTSIDE, /^src\/swhid\//],
  'src/archives/': [
    ...OUTSIDE,
    /^(xz-decompress)$/,
    /^src\/(archives|swhid)\//,
    /^src\/(garbage|in-turn|places)\.ts$/,
    /^src\/archive-store\/archive-store\.ts$/,
  ],
  'src/sword/': [...OUTSIDE, /^(saxes|xmlbuilder2)$/, /^src\/sword\//, /^src\/domain\//],
  'src/event-log/open-': [/^src\/(event-log\/|config\.ts$)/],
  'src/event-log/': [
    ...OUTSIDE,
    /^@eventstore\/db-client$/,
    /^src\/event-log\//,
    /^src\/(cut-off|growing-pause|in-time|logger|replace-file)\.ts$/,
    /^src\/sqlite\/(codes|integrity|reading|slots|transaction)\.ts$/,
  ],
  'src/archive-store/open-': [/^node:path$/, /^src\/tools\//, /^src\/(archive-store\/|config\.ts$)/],
  'src/archive-store/': [
    ...OUTSIDE,
    /^minio$/,
    /^src\/archive-store\//,
    /^src\/(durable-folders|growing-pause|in-time)\.ts$/,
    /^src\/sqlite\/(codes|integrity|reading|slots|transaction)\.ts$/,
  ],
  'src/dry-runs/': [
    ...OUTSIDE,
    /^src\/(dry-runs|archives)\//,
    /^src\/archive-store\/(archive-store|hashing-threads|unavailable|verify)\.ts$/,
  ],
  'src/uploads/': [
    ...OUTSIDE,
    /^src\/uploads\//,
    /^src\/(durable-folders|logger|replace-file)\.ts$/,
    /^src\/archive-store\/chunks-after\.ts$/,
  ],
  'src/read-models/': [
    ...OUTSIDE,
    /^src\/(read-models|domain)\//,
    /^src\/event-log\/event-log\.ts$/,
    /^src\/(cut-off|recently-used)\.ts$/,
    /^src\/sqlite\/(codes|reading|transaction)\.ts$/,
  ],
  'src/reactors/': [
    ...OUTSIDE,
    /^src\/(reactors|domain|swhid)\//,
    /^src\/(command-handler|cut-off|growing-pause|in-turn|logger)\.ts$/,
    /^src\/archives\/inspection\.ts$/,
    /^src\/event-log\/(event-log|deliveries|hash-chain)\.ts$/,
    /^src\/archive-store\/archive-store\.ts$/,
  ],
  'src/news/': [
    /^projections\//,
    /^src\/(domain|swhid)\//,
    /^src\/sword\/iris\.ts$/,
    /^src\/read-models\/fold\.ts$/,
    /^src\/event-log\/event-log\.ts$/,
  ],
  'src/notifications/': [
    ...OUTSIDE,
    /^projections\//,
    /^src\/(notifications|news|domain|reactors)\//,
    /^src\/(command-handler|growing-pause|in-time|key-file|logger)\.ts$/,
    /^src\/sword\/iris\.ts$/,
    /^src\/read-models\/(fold|projector)\.ts$/,
    /^src\/event-log\/(event-log|deliveries)\.ts$/,
  ],
  'src/sweep/': [
    ...OUTSIDE,
    /^projections\//,
    /^src\/(sweep|news|domain)\//,
    /^src\/(command-handler|logger)\.ts$/,
    /^src\/notifications\/notification-views\.ts$/,
    /^src\/reactors\/(parking|reactor-runner)\.ts$/,
    /^src\/archive-store\/archive-store\.ts$/,
    /^src\/read-models\/projector\.ts$/,
    /^src\/event-log\/(event-log|deliveries)\.ts$/,
  ],
  'src/resolving/': [
    ...OUTSIDE,
    /^src\/(resolving|domain|swhid)\//,
    /^src\/archives\/(inspection|manifest-search|threads\/member-readers|tar\/tar-writer)\.ts$/,
    /^src\/event-log\/event-log\.ts$/,
    /^src\/archive-store\/archive-store\.ts$/,
    /^src\/read-models\/projector\.ts$/,
    /^projections\/loaded-objects\.ts$/,
  ],
  'src/http/': [
    ...OUTSIDE,
    /^(koa|@koa\/router|koa-body|yaml|yazl)$/,
    /^src\/notifications\/notification-views\.ts$/,
    /^src\/(http|resolving|news|domain|sword|swhid|uploads)\//,
    /^src\/(command-handler|cut-off|deposit-ids|garbage|in-time|in-turn|keyed-requests|logger|outage-retries|password|places|recently-used)\.ts$/,
    /^src\/tracing\/span\.ts$/,
    /^src\/archives\/(format|inspection)\.ts$/,
    /^src\/event-log\/event-log\.ts$/,
    /^src\/archive-store\/archive-store\.ts$/,
    /^src\/read-models\/(fold|projection|projector)\.ts$/,
    /^projections\//,
  ],
  'src/metrics/': [
    ...OUTSIDE,
    /^prom-client$/,
    /^projections\//,
    /^src\/(metrics|domain)\//,
    /^src\/(config|in-time|logger)\.ts$/,
    /^src\/event-log\/(event-log|forwarding-event-log|deliveries|waiting-events)\.ts$/,
    /^src\/archive-store\/(archive-store|forwarding-archive-store)\.ts$/,
    /^src\/archives\/threads\/archive-workers\.ts$/,
    /^src\/http\/(credentials|health|http-observer|connections\/server)\.ts$/,
    /^src\/sword\/(documents\/error-document|sword-error)\.ts$/,
    /^src\/notifications\/(notification-views|notifications)\.ts$/,
    /^src\/(sweep\/|reactors\/reactor-runner\.ts$)/,
    /^src\/read-models\/projector\.ts$/,
  ],
  // The SDK: loaded only when tracing is switched on.
  'src/tracing/start-': [/^@opentelemetry\//, /^src\/logger\.ts$/],
  'src/tracing/': [
    ...OUTSIDE,
    /^@opentelemetry\/api$/,
    /^src\/tracing\/(?!start-)/,
    /^src\/event-log\/(event-log|forwarding-event-log)\.ts$/,
    /^src\/archive-store\/(archive-store|forwarding-archive-store)\.ts$/,
    /^src\/archives\/inspection\.ts$/,
    /^src\/reactors\/reactor\.ts$/,
  ],
  'src/anchors/': [
    ...OUTSIDE,
    /^src\/anchors\//,
    /^src\/(data-folder-lock|durable-folders|in-time|key-file|logger|outage-retries)\.ts$/,
    /^src\/event-log\/(event-log|hash-chain)\.ts$/,
  ],
  'src/verification/': [
    ...OUTSIDE,
    /^src\/(verification|anchors|domain)\//,
    /^src\/(config|permission|replace-file)\.ts$/,
    /^src\/archives\/(inspection|threads\/archive-workers)\.ts$/,
    /^src\/event-log\/(chain-faults|event-log|hash-chain|log-audit|open-log-audit|stream-heads)\.ts$/,
    /^src\/archive-store\/(archive-store|store-audit|open-store-audit)\.ts$/,
    /^src\/reactors\/identifiers\.ts$/,
    /^src\/read-models\/(rebuild|view-difference)\.ts$/,
    /^projections\/every-view\.ts$/,
  ],
  'projections/': [/^projections\//, /^src\/domain\//, /^src\/read-models\/projection\.ts$/],
  'scripts/drills.ts': [...OUTSIDE, /^(drills|scripts)\//],
  'scripts/simulate.ts': [...OUTSIDE, /^(simulation|scripts)\//],
  // Nodes are put together of the service's parts, engines included; nothing of the service imports it.
  'simulation/': [...OUTSIDE, /^(simulation|projections)\//, /^scripts\/orphans\.ts$/, /^src\/(?!process)/],
  // Engines are out of their reach, too: see the test below.
  'scripts/': [...OUTSIDE, /^(fast-xml-parser|tar-stream)$/, /^(scripts|projections)\//, /^src\/(?!http\/)/],
  'src/operator/': [...OUTSIDE, /^src\/(operator\/|permission\.ts$)/],
  // Runs where depositors are: nothing of the service but what is the same on both sides.
  'client/': [
    ...OUTSIDE,
    /^(fast-xml-parser|node-stream-zip|tar-stream)$/,
    /^client\//,
    /^src\/(archives|swhid)\//,
    /^src\/sword\/(namespaces|headers\/raw-header|documents\/xml-body)\.ts$/,
    /^src\/loopback\.ts$/,
    /^scripts\/progress-bar\.ts$/,
  ],
};

const CLOCK_AND_CHANCE = [
  /performance\.now|(?<![\w.])new Date\(\)|(?<![\w.])Date\.now|AbortSignal\.timeout/,
  /(?<![\w.#])(set|clear)(Timeout|Interval|Immediate)\b|node:timers/,
  /Math\.random|randomUUID|randomBytes|getRandomValues/,
];
const FILES_AND_REQUESTS = [
  /import (?!type)[^;]*from 'node:fs/,
  /(?<![\w.#])fetch\(|\bhttps?\.(request|get)\(|new Worker\(/,
];

/** Everything a file imports: paths of this project relative to its root, packages as they are named. */
function importsOf(file: string): string[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const specifiers = [
    ...source.matchAll(/(?:^|\n)\s*(?:import|export)\s(?:[^'"]*?from\s+)?'([^']+)'/g),
    ...source.matchAll(/import\(\s*'([^']+)'/g),
    ...source.matchAll(/new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g), // of a worker
  ];
  return specifiers.map(([, specifier = '']) => {
    if (!specifier.startsWith('.')) return specifier;
    return path.relative(root, path.resolve(root, path.dirname(file), specifier));
  });
}

const files = globSync('{src,projections,scripts,client,simulation}/**/*.ts', { cwd: root });

test('every room imports only what it may', (t) => {
  const violations = files.flatMap((file) => {
    const room = Object.keys(ROOMS).find((folder) => file.startsWith(folder));
    const allowed = room === undefined ? undefined : ROOMS[room];
    const foreign = allowed ? importsOf(file).filter((name) => !allowed.some((rule) => rule.test(name))) : [];
    return foreign.map((name) => `${file} imports ${name}`);
  });
  t.deepEqual(violations, []);
});

test('every folder has a room', (t) => {
  const folders = new Set(files.flatMap((file) => /^src\/[^/]+\/|^(?!src)[^/]+\//.exec(file) ?? []));
  t.true(folders.size > 20);
  t.deepEqual(
    [...folders].filter((folder) => !Object.hasOwn(ROOMS, folder)),
    [],
  );
});

test('the domain and the projections use nothing of the machine', (t) => {
  const pure = files.filter((file) => /^(src\/domain|projections)\//.test(file));
  t.true(pure.length > 15);
  for (const file of pure) {
    const source = readFileSync(path.join(root, file), 'utf8');
    t.notRegex(
      source,
      /\bprocess\.|Date\.now\(|new Date\(\)|Math\.random|randomUUID|performance\.|setTimeout|fetch\(/,
      file,
    );
  }
});

test('time, timers, randomness, files, workers and requests are used through src/tools alone', (t) => {
  const outside = files.filter((file) => !/^(src\/tools|simulation)\//.test(file));
  const uses = outside.flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    const banned = file.startsWith('src/') ? [...CLOCK_AND_CHANCE, ...FILES_AND_REQUESTS] : CLOCK_AND_CHANCE;
    return banned.filter((pattern) => pattern.test(source)).map((pattern) => `${file}: ${pattern}`);
  });
  t.deepEqual(uses, []);
});

test('only the configuration reads the environment', (t) => {
  const readers = files.filter((file) => readFileSync(path.join(root, file), 'utf8').includes('process.env'));
  t.deepEqual(
    readers.toSorted(),
    ['client/environment.ts', 'scripts/test.ts', 'src/config.ts', 'src/main.ts'],
    'main and the test command only tell where the compile cache is',
  );
});

test('engines are loaded only when they are opened', (t) => {
  for (const file of files.filter((name) => !/^(src\/(event-log|archive-store)|simulation)\//.test(name))) {
    const adapters = importsOf(file).filter((name) =>
      /^src\/(event-log\/(sqlite|eventstoredb|memory)|archive-store\/(filesystem|minio))/.test(name),
    );
    t.deepEqual(adapters, [], file);
  }
});

test('files keep to one topic and to names that say which', (t) => {
  for (const file of files) {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n').length;
    t.true(lines <= 280, `${file} has ${lines} lines`);
    t.notRegex(file, /\/(utils?|helpers?|common|types|index|misc)\.ts$/);
    t.regex(path.basename(file), /^[a-z0-9]+(-[a-z0-9]+)*\.ts$/);
  }
});
