import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import { contentId } from '../../src/swhid/content.ts';
import { type Directory, directoryId, type LeafMode } from '../../src/swhid/directory.ts';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { demoTarXz } from '../../testing/archives/demo-tars.ts';
import { entryXml, helloEntry, helloTar, helloZip } from '../../testing/http/deposit-bodies.ts';
import { CommandLineDepositor, type Facts } from '../../testing/processes/deposit-command.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

type Context = Record<'alice' | 'acme' | 'carol', CommandLineDepositor> & { service: RunningService };
const test = anyTest as TestFn<Context>;

const described = ['--name', 'Paint', '--author', 'Ada Lovelace'];

test.before(async (t) => {
  const service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  await service.register('carol', { collections: ['software'] });
  await service.register('acme', { collections: ['software', 'other'], domain: 'acme.example' });
  const { url } = service;
  const of = async (user: string) =>
    new CommandLineDepositor(await mkdtemp(path.join(tmpdir(), 'depositor-')), {
      url,
      user,
      password: 'secret',
    });
  t.context = { service, alice: await of('alice'), acme: await of('acme'), carol: await of('carol') };
});

test.after.always(async (t) => {
  await t.context.service[Symbol.asyncDispose]();
  const { alice, acme, carol } = t.context;
  for (const { home } of [alice, acme, carol]) await rm(home, { recursive: true, force: true });
});

/** Files as `[mode, content]`, folders as nested trees. */
type Tree = { readonly [name: string]: Tree | readonly [LeafMode, string] };

function directoryOf(tree: Tree): Directory {
  return new Map(
    Object.entries(tree).map(([name, what]) => [
      Buffer.from(name).toString('latin1'),
      isFile(what) ? { mode: what[0], id: contentId(Buffer.from(what[1])) } : directoryOf(what),
    ]),
  );
}

function swhidOf(directory: Directory): string {
  return `swh:1:dir:${directoryId(directory)}`;
}

function isFile(what: Tree[string] | undefined): what is readonly [LeafMode, string] {
  return Array.isArray(what);
}

const long = 'long-'.repeat(40);
const unusual = {
  'paint.py': ['100644', 'print("hi")\n'],
  'run.sh': ['100755', '#!/bin/sh\n'],
  link: ['120000', 'src/../paint.py'],
  'link to nowhere': ['120000', 'élève/nobody'],
  'with space & "quotes"\n': ['100644', 'a'],
  '-rf': ['100644', 'b'],
  'Ünïcodé 🎨': ['100644', 'c'],
  src: { 'a-b': ['100644', ''], a: { x: ['100644', 'x'] }, 'a.txt': ['100644', 't'], empty: {} },
  [long]: { [long]: { [long]: ['100644', 'deep'] } },
} as const satisfies Tree;

async function write(folder: string, tree: Tree): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, what] of Object.entries(tree)) {
    const place = path.join(folder, name);
    if (!isFile(what)) await write(place, what);
    else if (what[0] === '120000') await symlink(what[1], place);
    else await writeFile(place, what[1]);
    if (isFile(what) && what[0] === '100755') await chmod(place, 0o755);
  }
}

test('the identifier of a folder is printed before its upload and equals that of the deposit', async (t) => {
  const { alice } = t.context;
  const folder = path.join(alice.home, 'unusual');
  await write(folder, unusual);
  const latin1 = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('caf\xe9', 'latin1')]);
  await writeFile(latin1, 'd');
  await write(path.join(folder, '.git'), { HEAD: ['100644', 'ref: refs/heads/main\n'] });
  await write(folder, { 'main.o': ['100644', 'o'], build: { out: ['100644', 'o'] } });

  const without = ['--exclude', '*.o', '--exclude', 'build/', '--exclude', 'src/nothing'];
  const { code, out, err } = await alice.run(['upload', 'unusual', ...without, ...described, '--wait']);
  t.is(code, 0, err);
  const whole = directoryOf(unusual).set('caf\xe9', { mode: '100644', id: contentId(Buffer.from('d')) });
  const expected = swhidOf(whole);
  t.regex(err, new RegExp(`^12 files, .* bytes: ${expected}$`, 'm'));
  t.regex(out, /^Deposit \d+ “Paint”: done$/m);
  t.regex(out, new RegExp(`^${expected};origin=`, 'm'));
  t.regex(out, /^The identifier matches the one computed here\.$/m);
});

test('packing a folder is reproducible, whatever the owners and times of its files', async (t) => {
  const { alice } = t.context;
  const tree = { b: ['100644', 'b'], a: { c: ['100755', 'c'] } } as const;
  await write(path.join(alice.home, 'first/paint'), tree);
  await write(path.join(alice.home, 'second/paint'), tree);
  await utimes(path.join(alice.home, 'second/paint/b'), 1e9, 1e9);
  await chmod(path.join(alice.home, 'second/paint/b'), 0o640);
  const [first, second, dated] = [
    await alice.facts(['upload', 'first/paint', '--partial']),
    await alice.facts(['upload', 'second/paint/', '--partial']),
    await alice.facts(['upload', 'first/paint', '--partial'], { env: { SOURCE_DATE_EPOCH: '1000000000' } }),
  ];
  const digests = [first, second, dated].map((facts) => archivesOf(facts).map(({ sha256 }) => sha256));
  t.deepEqual(digests[0], digests[1]);
  t.notDeepEqual(digests[0], digests[2], 'the time is part of the archive');
  t.deepEqual(
    [second['expectedSwhid'], dated['expectedSwhid']],
    [swhidOf(directoryOf(tree)), first['expectedSwhid']],
  );
});

test('later archives overwrite members of earlier ones, and the identifier is that of the merged tree', async (t) => {
  const { alice } = t.context;
  await writeFile(path.join(alice.home, 'one.tar'), helloTar);
  await writeFile(path.join(alice.home, 'über "zwei".zip'), zipOf([{ name: 'hello/more.py', data: 'more' }]));
  await write(path.join(alice.home, 'three/hello'), { 'hello.py': ['100755', 'changed'] });
  const facts = await alice.facts(['upload', 'one.tar', 'über "zwei".zip', 'three', ...described, '--wait']);
  const whole = { hello: { 'hello.py': ['100755', 'changed'], 'more.py': ['100644', 'more'] } } as const;
  t.like(facts, {
    status: 'done',
    swhid: swhidOf(directoryOf(whole)),
    expectedSwhid: swhidOf(directoryOf(whole)),
    swhidAgrees: true,
  });
  t.deepEqual(
    archivesOf(facts).map(({ filename, format }) => [filename, format]),
    [
      ['one.tar', 'tar'],
      ['uber _zwei_.zip', 'zip'],
      ['three.tar.gz', 'tar.gz'],
    ],
  );
});

test('a tar.xz is identified before its upload and after it is fetched', async (t) => {
  const { alice } = t.context;
  await writeFile(path.join(alice.home, 'demo.tar.xz'), demoTarXz);
  const uploaded = await alice.facts(['upload', 'demo.tar.xz', ...described, '--wait']);
  t.like(uploaded, { status: 'done', expectedSwhid: uploaded['swhid'], swhidAgrees: true });
  const fetched = ['fetch', String(uploaded['deposit']), '--output', 'fetched.tar.xz'];
  t.like(await alice.facts(fetched), { length: demoTarXz.length, swhidAgrees: true });
});

test('a deposit is made in parts: an archive, metadata, another archive, then the completion', async (t) => {
  const { alice } = t.context;
  await writeFile(path.join(alice.home, 'hello.zip'), helloZip);
  const begun = await alice.facts(['upload', 'hello.zip', '--partial']);
  t.like(begun, { status: 'partial', title: `Deposit ${String(begun['deposit'])}`, swhid: null });
  const id = String(begun['deposit']);
  await writeFile(path.join(alice.home, 'entry.xml'), helloEntry);
  t.like(await alice.facts(['upload', '--deposit', id, '--metadata', 'entry.xml', '--partial']), {
    title: 'Hello',
    status: 'partial',
  });
  await writeFile(path.join(alice.home, 'second.tar'), tarOf([{ name: 'second', data: '2' }]));
  const added = await alice.run(['upload', '--deposit', String(begun['edit']), 'second.tar', '--partial']);
  t.is(added.code, 0, added.err);
  t.regex(added.err, /has other archives as well: its identifier cannot be computed here/);
  const asked = await alice.run(['status', id]);
  t.is(
    asked.out,
    `Deposit ${id} “Hello”: partial\nIt is not checked yet. Add to it with deposit upload --deposit ${id}, or complete it with deposit complete ${id}.\n`,
  );
  const waited = await alice.run(['status', id, '--wait']);
  t.is(waited.code, 1);
  t.regex(waited.err, /is partial: it is not checked until you complete it/);

  const whole = { hello: { 'hello.py': ['100644', 'print("hello")\n'] }, second: ['100644', '2'] } as const;
  const completed = await alice.facts(['complete', id, '--wait']);
  t.like(completed, { status: 'done', swhid: swhidOf(directoryOf(whole)) });
  t.like(await alice.facts(['complete', id]), { status: 'done' }, 'asked again it is the same');
  const late = await alice.run(['upload', '--deposit', id, 'second.tar']);
  t.is(late.code, 1);
  t.regex(
    late.err,
    new RegExp(`^Deposit ${id} is done: it can be changed only while it is partial\\.$`, 'm'),
  );
  t.notRegex(late.err, /Continue|remove it/, 'a deposit that is done can be neither continued nor removed');
});

test('archives and metadata of a partial deposit are replaced, and the identifier is computed again', async (t) => {
  const { alice } = t.context;
  await writeFile(path.join(alice.home, 'wrong.tar'), tarOf([{ name: 'wrong', data: 'w' }]));
  await writeFile(path.join(alice.home, 'right.tar'), tarOf([{ name: 'right', data: 'r' }]));
  const id = String(
    (await alice.facts(['upload', 'wrong.tar', '--name', 'Wrong', '--author', 'A', '--partial']))['deposit'],
  );
  const replaced = await alice.facts([
    'upload',
    '--deposit',
    id,
    '--replace',
    'right.tar',
    ...described,
    '--wait',
  ]);
  const whole = { right: ['100644', 'r'] } as const;
  t.like(replaced, { status: 'done', title: 'Paint', swhid: swhidOf(directoryOf(whole)), swhidAgrees: true });
});

test('a rejection is printed with its reasons and has its own exit code', async (t) => {
  const { acme } = t.context;
  await writeFile(path.join(acme.home, 'hello.zip'), helloZip);
  const upload = ['upload', 'hello.zip', ...described, '--collection', 'other', '--wait'];
  const { code, out } = await acme.run(upload);
  t.is(code, 3);
  t.regex(out, /^Deposit \d+ “Paint”: rejected$/m);
  t.regex(
    out,
    /^- At least one url field must be compatible with the client's domain name \(codemeta:url\): expected acme\.example, /m,
  );
  const { code: again, results } = await acme.json(upload);
  t.is(again, 3);
  t.like(results[0], { status: 'rejected', collection: 'other', swhid: null, swhidAgrees: null });
  const id = String(results[0]?.['deposit']);
  t.is((await acme.run(['status', id])).code, 3);
  t.is((await acme.run([...upload, '--url', 'https://acme.example/paint'])).code, 0);
});

test('a deposit that the service would reject is not sent without --force', async (t) => {
  const { carol } = t.context;
  const climbing = zipOf([{ name: '../evil', data: 'x' }]);
  await writeFile(path.join(carol.home, 'climbing.zip'), climbing);
  const refused = await carol.run(['upload', 'climbing.zip', ...described]);
  t.is(refused.code, 1);
  t.regex(refused.err, /- The path of the member “\.\.\/evil” climbs .*\nNothing was sent/);
  t.deepEqual((await carol.json(['list'])).results, []);
  const forced = await carol.run(['upload', 'climbing.zip', ...described, '--force', '--wait']);
  t.is(forced.code, 3);
  t.regex(forced.out, /path traversal/);
});

test('an archive larger than the service unpacks is not sent without --force, and such a folder is not packed', async (t) => {
  const archiveLimits = { ...defaultArchiveLimits, unpackedBytes: 70 * 1024 ** 2, members: 3 };
  await using service = await RunningService.start({ archiveLimits });
  await service.register('dora', { collections: ['software'] });
  const home = await temporaryFolder(t);
  const dora = new CommandLineDepositor(home, { url: service.url, user: 'dora', password: 'secret' });
  const three = { a: { b: ['100644', 'b'], c: ['100644', 'c'] } } as const;
  await write(path.join(home, 'three'), three);
  await write(path.join(home, 'four'), { ...three, d: ['100644', 'd'] });
  await writeFile(
    path.join(home, 'four.zip'),
    zipOf(['a', 'b', 'c', 'd'].map((name) => ({ name, data: name }))),
  );
  for (const [name, megabytes] of [
    ['zeros', 65],
    ['large', 71],
  ] as const) {
    await write(path.join(home, name), { file: ['100644', ''] });
    await truncate(path.join(home, name, 'file'), megabytes * 1024 ** 2);
  }
  const tooLarge = (folder: string, size: string) =>
    new RegExp(
      `^The folder ${folder} is too large: ${size}; the service accepts at most 3 members and 73,400,320 bytes\\.`,
      'm',
    );
  const refusals: [source: string, said: RegExp][] = [
    ['four', tooLarge('four', '4 members and 3 bytes')],
    ['large', tooLarge('large', '1 member and 74,448,896 bytes')],
    ['four.zip', /- The archive has too many entries: more than 3 \(the limit\)\.\nNothing was sent/],
    ['zeros', /- The archive unpacks to more than 200 times .*\nNothing was sent/],
  ];
  for (const [source, said] of refusals) {
    const refused = await dora.run(['upload', source, ...described]);
    t.is(refused.code, 1, source);
    t.regex(refused.err, said);
  }
  t.deepEqual((await dora.json(['list'])).results, []);
  t.is((await dora.run(['upload', 'three', ...described, '--wait'])).code, 0);
  for (const sent of [['--force', '--wait'], ['--dry-run']]) {
    const rejected = await dora.run(['upload', 'four', ...described, ...sent]);
    t.is(rejected.code, 3, rejected.err);
    t.regex(rejected.out, /too many entries: more than 3/);
  }
});

test.serial('a dry run checks the deposit on the server and creates nothing', async (t) => {
  const { acme } = t.context;
  await write(path.join(acme.home, 'tried'), { a: ['100644', 'a'] });
  const tried = ['upload', 'tried', ...described, '--collection', 'other', '--dry-run'];
  const listed = async () => (await acme.json(['list', '--collection', 'other'])).results.length;
  const before = await listed();
  const rejected = await acme.run(tried);
  t.is(rejected.code, 3);
  t.regex(rejected.out, /^Dry run: rejected\n- At least one url field must be compatible/);
  const good = ['--url', 'https://acme.example/', '--provenance', 'https://acme.example/'];
  const { code, results } = await acme.json([...tried, ...good]);
  t.is(code, 0);
  const detail = 'The deposit would pass its checks.';
  t.like(results[0], { dryRun: true, status: 'verified', detail }, 'and no warning: there is a provenance');
  t.is(await listed(), before);
  for (const other of ['--partial', '--wait', '--deposit=1']) {
    const wrong = await acme.run([...tried, other]);
    t.deepEqual([wrong.code, wrong.err], [2, `--dry-run cannot be combined with ${other.split('=')[0]}.\n`]);
  }
});

test('the saved login, other files of the program and the password file are not deposited', async (t) => {
  const { service } = t.context;
  const home = path.join(await temporaryFolder(t), 'home');
  const tree = { a: ['100644', 'a'], '.config': { other: ['100644', 'o'] } } as const;
  await write(home, { ...tree, 'my password': ['100644', 'secret\n'] });
  const erin = new CommandLineDepositor(home, { url: service.url, user: 'alice', password: 'secret' });
  t.is((await erin.run(['login'])).code, 0);
  await write(path.join(home, '.cache/sword-deposit/prepared'), { old: ['100644', 'x'] });
  await symlink(home, path.join(home, '../link'));
  const env = { SWORD_PASSWORD: '', SWORD_PASSWORD_FILE: 'my password' };
  for (const source of ['.', '../link']) {
    const { code, err } = await erin.run(['upload', source, '--partial'], { env });
    t.is(code, 0, err);
    const whole = { ...tree, '.cache': {} };
    t.regex(err, new RegExp(`^2 files, 2 bytes: ${swhidOf(directoryOf(whole))}$`, 'm'));
    t.regex(
      err,
      /^Left out: .*\.config\/sword-deposit, which is of this program and may hold your password\.$/m,
    );
  }
  const login = path.join(home, '.config/sword-deposit/login.json');
  const linked = path.join(home, '../dotfiles');
  await write(linked, { a: ['100644', 'a'] });
  await rename(login, path.join(linked, 'login.json'));
  await symlink(path.join(linked, 'login.json'), login);
  const { code, err } = await erin.run(['upload', linked, '--partial']);
  t.is(code, 0, err);
  t.regex(err, /^Left out: .*dotfiles\/login\.json, which is of this program and may hold your password\.$/m);
  t.regex(err, /^1 file, 1 byte: /m);
  const all = await erin.run(['upload', '.config/sword-deposit', '--partial']);
  t.is(all.code, 2);
  t.regex(all.err, /^\.config\/sword-deposit is a folder of this program, which may hold your password\.$/m);
});

test('a folder that contains the temporary folder is deposited without the files of the command', async (t) => {
  const { alice } = t.context;
  const tree = { a: ['100644', 'a'], tmp: {} } as const;
  await write(path.join(alice.home, 'around'), tree);
  const env = { TMPDIR: path.join(alice.home, 'around/tmp') };
  const { code, err } = await alice.run(['upload', 'around', '--partial'], { env });
  t.is(code, 0, err);
  t.regex(err, new RegExp(`^1 file, 1 byte: ${swhidOf(directoryOf(tree))}$`, 'm'));
});

test('invalid sources and options are refused with a message before anything is sent', async (t) => {
  const { alice, acme } = t.context;
  await write(path.join(alice.home, 'pipes'), { a: ['100644', 'a'] });
  execFileSync('mkfifo', [path.join(alice.home, 'pipes/fifo')]);
  await mkdir(path.join(alice.home, 'nothing/.git'), { recursive: true });
  await writeFile(path.join(alice.home, 'text'), 'no archive');
  const cases: [args: string[], code: number, said: RegExp][] = [
    [['upload', 'pipes', ...described], 1, /pipes\/fifo is a FIFO, which cannot be deposited/],
    [['upload', 'nothing', ...described], 1, /Nothing to deposit in nothing: the folder is empty/],
    [['upload', 'text', ...described], 1, /text is not a zip or a tar/],
    [['upload', 'missing', ...described], 1, /missing cannot be read: no such file or directory/],
    [['upload', 'caf\ufffd', ...described], 1, /caf\ufffd cannot be read: its path is not UTF-8/],
    [['upload', ''], 2, /'' is not a path/],
    [['upload', 'text'], 2, /A deposit needs metadata/],
    [['upload', 'text', '--name', 'caf\ufffd', '--author', 'Ada'], 2, /^--name is not UTF-8/m],
    [['upload', 'text', ...described, '--keyword', 'a', '--keyword', 'caf\ufffd'], 2, /^--keyword is not/m],
    [['upload', 'text', ...described, '--slug=caf\ufffd'], 2, /^--slug is not UTF-8/m],
    [
      ['upload', 'text', ...described, '--colour'],
      2,
      /^Unknown option '--colour'\. --help lists the options\.$/m,
    ],
  ];
  for (const [args, code, said] of cases) {
    const ran = await alice.run(args);
    t.deepEqual([ran.code, ran.out], [code, ''], args.join(' '));
    t.regex(ran.err, said);
  }
  await write(path.join(alice.home, 'plain'), { a: ['100644', 'a'] });
  const unpacked = await alice.run(['upload', 'plain', ...described], { env: { TMPDIR: '/nowhere' } });
  t.is(unpacked.code, 1);
  t.regex(
    unpacked.err,
    /^No temporary file can be made in \/nowhere: no such file or directory\. TMPDIR names /m,
  );
  const several = await acme.run(['upload', 'text', ...described]);
  t.is(several.code, 2);
  t.regex(several.err, /You have several collections, choose one with --collection: software, other/);
});

test('metadata from a file are sent unchanged, in any encoding', async (t) => {
  const { alice } = t.context;
  const latin1 = entryXml('<title>Caf\u00e9</title><author><name>Ren\u00e9</name></author>').replace(
    'utf-8',
    'iso-8859-1',
  );
  await writeFile(path.join(alice.home, 'latin1.xml'), Buffer.from(latin1, 'latin1'));
  await writeFile(path.join(alice.home, 'hello.tar'), helloTar);
  t.like(await alice.facts(['upload', 'hello.tar', '--metadata', 'latin1.xml', '--wait']), {
    status: 'done',
    title: 'Caf\u00e9',
  });
});

function archivesOf(facts: Facts): Facts[] {
  return facts['archives'] as Facts[];
}
