import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';

const root = path.join(import.meta.dirname, '..');

/**
 * A folder of files that belong together. Its files import from the rooms and packages listed, from Node and from
 * themselves.
 */
type Room = { readonly rooms?: readonly string[]; readonly packages?: readonly string[] };

const PORTS = ['src/event-log/', 'src/object-store/'];
const CORE = ['src/archives/', 'src/contents/', 'src/deposits/', 'src/domain/', 'src/swhid/', 'src/sword/'];
const SHOWN = ['projections/', 'src/views/'];
const MODULE_SETTINGS = ['src/modules/resumable-uploads/', 'src/modules/webhooks/'];

/** The rooms, as docs/architecture.md has them. A file is in the first room whose folder fits. */
const ROOMS: Readonly<Record<string, Room>> = {
  'src/domain/': {},
  'src/tools/': { rooms: ['src/domain/client/'], packages: ['pino', 'pino-pretty', '@opentelemetry/api'] },
  'src/config/': {
    rooms: ['src/tools/', 'src/archives/', 'src/sword/', 'src/http/http-settings.ts', ...MODULE_SETTINGS],
  },
  'src/swhid/': { rooms: ['src/tools/'] },
  'src/sword/': { rooms: ['src/tools/', 'src/domain/'], packages: ['saxes', 'xmlbuilder2'] },
  'src/archives/': {
    rooms: ['src/tools/', 'src/swhid/', 'src/config/package-info.ts', 'src/object-store/'],
    packages: ['xz-decompress'],
  },
  'src/event-log/': { rooms: ['src/tools/'], packages: ['@eventstore/db-client'] },
  'src/object-store/': { rooms: ['src/tools/', 'src/config/'], packages: ['minio'] },
  'projections/': { rooms: ['src/domain/', 'src/views/projection.ts'] },
  'src/views/': {
    rooms: ['src/tools/', 'src/domain/', 'src/event-log/', 'src/object-store/object-store.ts'],
  },
  'src/contents/': {
    rooms: ['src/tools/', 'src/archives/', 'src/domain/', 'src/swhid/', ...PORTS, ...SHOWN],
  },
  'src/deposits/': {
    rooms: [
      'src/tools/',
      'src/archives/',
      'src/contents/',
      'src/domain/',
      'src/swhid/',
      'src/sword/',
      ...PORTS,
      ...SHOWN,
    ],
  },
  'src/reactors/': { rooms: ['src/tools/', ...CORE, ...PORTS, ...SHOWN] },
  'src/http/': {
    rooms: ['src/tools/', ...CORE, ...PORTS, ...SHOWN],
    packages: ['koa', '@koa/router', 'koa-body', 'yaml', 'yazl'],
  },
  // The type of a module, and the list of all modules. The type names what the modules return.
  'src/modules/module.ts': { rooms: ['src/'] },
  'src/modules/modules.ts': { rooms: ['src/modules/'] },
  'src/modules/resumable-uploads/': {
    rooms: ['src/tools/', 'src/deposits/', 'src/domain/', 'src/event-log/', 'src/sword/', 'src/http/'],
    packages: ['koa'],
  },
  'src/modules/dry-run/': { rooms: ['src/tools/', 'src/http/', ...CORE, ...PORTS, ...SHOWN] },
  'src/modules/webhooks/': {
    rooms: ['src/tools/', 'src/http/', 'src/reactors/', ...CORE, ...PORTS, ...SHOWN],
  },
  'src/modules/status-events/': { rooms: ['src/tools/', 'src/http/', ...CORE, ...PORTS, ...SHOWN] },
  // The proof imports nothing of the service, so that the two are two opinions; it runs in browsers and in Node.
  'src/modules/console/proof/': {},
  'src/modules/anchors/': { rooms: ['src/tools/', 'src/event-log/'] },
  // The console: what runs in the browser, what runs in both places, and the server. Files of the browser are served as
  // they are, so they import only what src/modules/console/server/assets.ts serves.
  'src/modules/console/browser/': {
    rooms: ['src/modules/console/protocol/', 'src/modules/console/proof/', 'src/domain/', 'projections/'],
    packages: ['preact', 'preact/hooks'],
  },
  'src/modules/console/protocol/': { rooms: ['src/domain/'], packages: ['preact', 'htm'] },
  'src/modules/console/': {
    rooms: [
      'src/tools/',
      'src/config/',
      'src/http/',
      'src/reactors/',
      'src/modules/anchors/',
      'src/operations/deposits/deposit-retries.ts',
      'src/operations/parked/',
      'src/modules/console/protocol/',
      ...CORE,
      ...PORTS,
      ...SHOWN,
    ],
    packages: ['preact', 'preact-render-to-string'],
  },
  'src/operations/': {
    rooms: [
      'src/tools/',
      'src/config/',
      'src/modules/anchors/',
      'src/modules/webhooks/',
      'src/reactors/',
      'src/service/backends/',
      'src/service/nodes/',
      'src/service/operator-port/',
      ...CORE,
      ...PORTS,
      ...SHOWN,
    ],
  },
  // Of other rooms, only the types of the ports that it observes, and of the events that it counts.
  'src/observability/': {
    rooms: [
      'src/tools/',
      'src/archives/archive-reader.ts',
      'src/domain/deposit/events.ts',
      'src/event-log/event-log.ts',
      'src/http/http-observer.ts',
      'src/object-store/object-store.ts',
      'src/reactors/reactor.ts',
      'src/sword/sword-error.ts',
    ],
    packages: [
      'prom-client',
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-node',
    ],
  },
  'src/service/': { rooms: ['src/', 'projections/'] },
  'src/main.ts': { rooms: ['src/config/', 'src/service/process/', 'src/tools/'] },
  // Nodes are composed of the service's parts, engines included; nothing of the service imports it.
  'simulation/': { rooms: ['src/', 'projections/'], packages: ['pino'] },
  'scripts/drills.ts': { rooms: ['drills/', 'src/operations/command/', 'src/tools/'] },
  'scripts/simulate.ts': { rooms: ['simulation/', 'src/operations/command/', 'src/tools/'] },
  'scripts/': { rooms: ['src/', 'projections/'], packages: ['fast-xml-parser', 'tar-stream'] },
  // Runs on the machines of depositors: of the service, only code that is the same on both sides.
  'client/': {
    rooms: [
      'src/archives/',
      'src/config/loopback.ts',
      'src/swhid/',
      'src/sword/namespaces.ts',
      'src/sword/headers/raw-header.ts',
      'src/sword/xml/xml-body.ts',
      'src/sword/xml/xml-text.ts',
      'src/tools/',
    ],
    packages: ['fast-xml-parser', 'node-stream-zip', 'tar-stream'],
  },
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

/** Returns all imports of a file: paths of this project relative to its root, packages as they are named. */
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

function roomOf(file: string): string | undefined {
  return Object.keys(ROOMS).find((folder) => file.startsWith(folder));
}

function mayImport(room: string, name: string): boolean {
  if (name.startsWith('node:') || name.startsWith(room)) return true;
  const { rooms = [], packages = [] } = ROOMS[room] ?? {};
  if (room.startsWith('src/modules/') && name === 'src/modules/module.ts') return true;
  return packages.includes(name) || rooms.some((folder) => name.startsWith(folder));
}

test('every file is in a room, and imports only what its room may', (t) => {
  const violations = files.flatMap((file) => {
    const room = roomOf(file);
    if (room === undefined) return [`${file} is in no room`];
    return importsOf(file)
      .filter((name) => !mayImport(room, name))
      .map((name) => `${file} imports ${name}`);
  });
  t.deepEqual(violations, []);
});

test('no two rooms import each other', (t) => {
  const imports = new Set(
    files.flatMap((file) => importsOf(file).map((name) => `${roomOf(file)} ${roomOf(name) ?? name}`)),
  );
  const both = [...imports].filter((pair) => {
    const [from, to] = pair.split(' ');
    return from !== to && !pair.includes('src/modules/module.ts') && imports.has(`${to} ${from}`);
  });
  t.deepEqual(both, []);
});

/** Returns the files that a file imports, in the simulation without those of which it needs types only. */
function neededBy(file: string): string[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const imports = source.matchAll(/^(?:import|export) (?<names>[^;]*?)from '(?<from>\.[^']+)';/gm);
  return [...imports].flatMap(({ groups: { names = '', from = '' } = {} }) => {
    if (file.startsWith('simulation/') && isTypesOnly(names)) return [];
    return path.relative(root, path.resolve(root, path.dirname(file), from));
  });
}

function isTypesOnly(names: string): boolean {
  const entries = names
    .replace(/^type /, '')
    .replace(/[{}]/g, '')
    .split(',');
  return names.startsWith('type ') || entries.every((entry) => /^\s*(type .*)?$/s.test(entry));
}

test('no file imports itself through other files', (t) => {
  const all = globSync('{src,projections,scripts,client,testing,simulation,bench,drills}/**/*.ts', {
    cwd: root,
  });
  const left = new Map(all.map((file) => [file, neededBy(file)]));
  for (let size = 0; size !== left.size; ) {
    size = left.size;
    for (const [file, needed] of left) if (!needed.some((other) => left.has(other))) left.delete(file);
  }
  t.deepEqual([...left.keys()], [], 'files of a cycle and their importers');
});

test('no file is outside a room, and no folder of src, client or testing has more than 16 files', (t) => {
  const folders = Map.groupBy(globSync('{src,client,testing}/**/*.ts', { cwd: root }), (file) =>
    path.dirname(file),
  );
  t.deepEqual(folders.get('src'), ['src/main.ts']);
  t.deepEqual(folders.get('testing'), undefined);
  // A command of `package.json` each; what they do is in src/operations.
  const commands = globSync('scripts/*.ts', { cwd: root }).map((file) => path.basename(file, '.ts'));
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  t.deepEqual(
    commands.filter((name) => !scripts[name]?.includes(`bin/deposit-service.js ${name}`)),
    [],
  );
  const full = [...folders].filter(([, inside]) => inside.length > 16);
  t.deepEqual(
    full.map(([folder, { length }]) => `${folder}: ${length}`),
    [],
  );
});

test('the domain and the projections use no platform features', (t) => {
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

test('time, timers, randomness, files, workers and requests are used only through src/tools', (t) => {
  // Browsers have their own clock, requests and workers.
  const outside = files.filter(
    (file) => !/^(src\/tools|simulation|src\/modules\/console\/browser)\//.test(file),
  );
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
    [
      'client/environment.ts',
      'scripts/test.ts',
      'src/config/read-config.ts',
      'src/config/temporary-folder.ts',
      'src/main.ts',
    ],
    'main and the test command only set the compile cache',
  );
});

test('engines are loaded only when they are opened', (t) => {
  for (const file of files.filter(
    (name) => !/^(src\/(event-log|object-store|service\/backends)|simulation)\//.test(name),
  )) {
    const adapters = importsOf(file).filter((name) =>
      /^src\/(event-log\/(sqlite|eventstoredb)|object-store\/(filesystem|s3))/.test(name),
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

/** Modules that a simulated node loads in place of others, and what only a program outside of the tree calls. */
const REPLACEMENTS =
  /^simulation\/(archives\/archive-workers|cluster\/db-client|disk\/sqlite)\.ts$|^bench\/references\//;

test('every export is imported by another file, or is a type of what its file exports', (t) => {
  const tree = globSync('{src,projections,scripts,client,testing,test,drills,bench,simulation}/**/*.ts', {
    cwd: root,
  });
  const imported = new Set(tree.flatMap(importedNames));
  const unused = tree
    .filter((file) => !REPLACEMENTS.test(file))
    .flatMap((file) =>
      exportedNames(file)
        .filter((name) => !imported.has(`${file} ${name}`))
        .map((name) => `${file} exports ${name} for no other file`),
    );
  t.deepEqual(unused, []);
});

/** Returns the exported names, without types that the file uses itself. */
function exportedNames(file: string): string[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const declarations = source.matchAll(
    /^export (?:abstract |async )*(class|const|enum|function\*?|interface|type) (\w+)/gm,
  );
  const declared = [...declarations].filter(([, kind = '', name = '']) => {
    const uses = source.match(new RegExp(`\\b${name}\\b`, 'g')) ?? [];
    return !['interface', 'type'].includes(kind) || uses.length === 1;
  });
  const lists = source.matchAll(/^export (?:const )?[{[]([^}\]]*)[}\]]/gm);
  const listed = [...lists].flatMap(([, names = '']) => names.split(',')).map(namesIn);
  return [...declared.map(([, , name = '']) => name), ...listed.flatMap((names) => names.slice(-1))];
}

/** Returns `file name` for each export that the file imports; every word of the file if it imports a whole module. */
function importedNames(file: string): string[] {
  const source = readFileSync(path.join(root, file), 'utf8');
  const lists = source.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm);
  const modules = source.matchAll(/(?:import\(\s*|new URL\(\s*|\* as \w+ from )'(\.[^']+)'/g);
  const words = new Set(source.match(/\w+/g));
  return [
    ...[...lists].map(([, list = '', from = '']) => ({
      from,
      names: list.split(',').flatMap((entry) => namesIn(entry).slice(0, 1)),
    })),
    ...[...modules].map(([, from = '']) => ({ from, names: [...words] })),
  ].flatMap(({ from, names }) => {
    const target = path.relative(root, path.resolve(root, path.dirname(file), from));
    return names.map((name) => `${target} ${name}`);
  });
}

/** Returns the name in an entry of a list, and its alias if it has one. */
function namesIn(entry: string): string[] {
  return entry.match(/(?!type\s)\b\w+/g)?.filter((word) => word !== 'as') ?? [];
}

/** Returns the text of each section of a page, without examples. */
function sectionsOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8').replace(/^```[^]*?^```/gm, '');
  const [, ...sections] = `\n${text}`.split(/\n#+ /);
  return new Map(
    sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return [heading, lines.join('\n')];
    }),
  );
}

/** Returns the words in backticks that are names: of headers, elements, parameters, settings. */
function namesQuotedIn(text: string): string[] {
  return [...text.matchAll(/`([\w:.-]+)`/g)].map(([, name = '']) =>
    name.replace(/^(depositns|sword|atom|swh):/, ''),
  );
}

/** Whether a source has a name, as it is or in camel case. */
function has(source: string, name: string): boolean {
  const camelCase = name.replace(/[_-](\w)/g, '$1');
  return [name, camelCase].some((spelling) => source.toLowerCase().includes(spelling.toLowerCase()));
}

test('every quoted name of the interface is in a file that the index lists under its heading', (t) => {
  const index = sectionsOf('interface-sources.md');
  for (const [heading, text] of sectionsOf('interface.md')) {
    const rows = (index.get(heading) ?? '').matchAll(/^\| (?<topic>.*) \| `(?<file>[^`]+\.ts)` \|$/gm);
    const sources = [...rows].map(({ groups: { topic = '', file = '' } = {} }) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      for (const name of namesQuotedIn(topic)) t.true(has(source, name), `${file} does not have ${name}`);
      return source;
    });
    const lost = namesQuotedIn(text).filter((name) => !sources.some((source) => has(source, name)));
    t.deepEqual(lost, [], `${heading}: names that are in no file of the index`);
  }
});

test('comments cite headings that the interface has', (t) => {
  const headings = sectionsOf('interface.md');
  const cited = files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8').replace(/\n\s*\* /g, ' ');
    return Array.from(
      text.matchAll(/interface\.md, (?<heading>[A-Z][a-z ]+)/g),
      ({ groups }) => [file, groups?.['heading'] ?? ''] as const,
    );
  });
  t.true(cited.length > 3);
  t.deepEqual(
    cited.filter(([, heading]) => !headings.has(heading)),
    [],
  );
});

test('the page about operation lists every message that the service logs', (t) => {
  const page = readFileSync(path.join(root, 'docs/operations.md'), 'utf8');
  const call =
    /\blogger\s*\.(?:debug|info|warn|error)\([^;]*?(?<quote>['`])(?<message>[^'`]+)\k<quote>,?\s*\)/g;
  const messages = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(call)].map(
      ({ groups }) => groups?.['message'] ?? '',
    ),
  );
  t.true(messages.length > 35 && messages.includes('webhook delivery failed'));
  const unlisted = messages.filter((message) => !page.includes(message.replace(/^\$\{\w+\} /, '')));
  t.deepEqual(unlisted, []);
});

test('the pages name only files that exist', (t) => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
  const folders = 'src|projections|client|scripts|testing|test|bench|drills|simulation|deploy';
  const name = new RegExp(`(?<=[\`\\s])(?:${folders})/[\\w./-]*\\w`, 'g');
  const missing = pages.flatMap((page) =>
    (readFileSync(path.join(root, page), 'utf8').match(name) ?? [])
      .filter((file) => !file.includes('NAME') && !existsSync(path.join(root, file)))
      .map((file) => `${page}: ${file}`),
  );
  t.deepEqual(missing, []);
});

/** Returns the anchors of a page: its headings in lower case, with dashes for spaces, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(page, 'utf8').replace(/^```[^]*?^```/gm, '');
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the links of pages lead to files and headings that exist', (t) => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'client/*.md', 'deploy/**/*.md'], { cwd: root });
  const links = pages.flatMap((page) => {
    const text = readFileSync(path.join(root, page), 'utf8').replace(/^```[^]*?^```/gm, '');
    return Array.from(text.matchAll(/\]\((?![a-z]+:)(?<link>[^)\s]+)\)/g), ({ groups }) => ({
      page,
      link: groups?.['link'] ?? '',
    }));
  });
  t.true(links.length > 100 && links.some(({ page }) => page.startsWith('docs/performance/')));
  const broken = links.filter(({ page, link }) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path.join(root, page) : path.resolve(root, path.dirname(page), file);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
  t.deepEqual(broken, []);
});
