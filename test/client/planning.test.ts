import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { exclusion, withSlashes } from '../../client/archives/folder-members.ts';
import { archiveName, type PreparedArchive } from '../../client/archives/prepare-archive.ts';
import { READING_LIMITS } from '../../client/archives/unpacked-limits.ts';
import { archiveType, assertAccepted, isResumable } from '../../client/deposit/archive-limits.ts';
import { safeFilename } from '../../client/deposit/download.ts';
import { assertSensible, inChunks, planSteps, type UploadOptions } from '../../client/deposit/plan.ts';
import { UsageFault } from '../../client/faults.ts';

const collection = {
  iri: 'http://x/1/software/',
  name: 'software',
  title: null,
  accept: ['application/zip', 'application/gzip'],
  dryRun: false,
  recognisesRepeats: false,
  resumableUploads: 'http://x/u/',
};
const archive = (source: string, length = 1): PreparedArchive => ({
  source,
  file: source,
  filename: source,
  format: 'zip',
  length,
  md5: '',
  sha256: '',
});
const entry = { bytes: Buffer.from('<entry/>'), contentType: 'application/atom+xml' };

test('an archive gets the type that the collection accepts', (t) => {
  t.is(archiveType('zip', collection), 'application/zip');
  t.is(archiveType('tar.gz', collection), 'application/gzip');
  t.is(archiveType('tar.xz', { ...collection, accept: [] }), 'application/x-tar');
  t.throws(() => archiveType('tar.xz', collection), {
    message: 'The collection software does not accept tar.xz, only application/zip, application/gzip.',
  });
});

test('large archives are resumable uploads if the server supports them', (t) => {
  const service = {
    maxUploadSize: 1000,
    maxResumableUploadSize: null,
    unpackedLimits: READING_LIMITS,
    clientDomain: null,
    collections: [],
  };
  t.false(isResumable({ length: 1000 }, service, collection));
  t.true(isResumable({ length: 1001 }, service, collection));
  t.false(isResumable({ length: 1001 }, service, { ...collection, resumableUploads: null }));
  t.true(isResumable({ length: 9e6 }, { ...service, maxUploadSize: null }, collection));
});

const NEW: UploadOptions = { deposit: undefined, replace: false, partial: false };

function assertPlan(
  t: ExecutionContext,
  wishes: UploadOptions,
  sent: readonly unknown[],
  expected: string[],
): void {
  const archives = sent.filter((one): one is PreparedArchive => one !== entry);
  const steps = planSteps(wishes, archives, sent.includes(entry) ? entry : null).flatMap((step) =>
    step.archive?.source === 'large' ? inChunks(step) : [step],
  );
  const words = steps.map((step) =>
    [
      step.action,
      step.isChunked && 'chunked',
      step.archive?.source,
      step.entry && '+entry',
      step.final && 'final',
    ]
      .filter(Boolean)
      .join(' '),
  );
  t.deepEqual(words, expected);
}

test('an upload plan ends with the final request', (t) => {
  const [a, b, large] = [archive('a'), archive('b'), archive('large')];
  assertPlan(t, NEW, [a, entry], ['create a +entry final']);
  assertPlan(t, NEW, [a, b, entry], ['create a +entry', 'add b final']);
  assertPlan(t, NEW, [large, b, entry], ['create chunked large', 'add +entry', 'add b final']);
  assertPlan(t, NEW, [a, large, entry], ['create a +entry', 'add chunked large final']);
  assertPlan(t, { ...NEW, partial: true }, [a], ['create a']);
  assertPlan(t, { ...NEW, partial: true }, [entry], ['create +entry']);
  const on = { ...NEW, deposit: '7' };
  assertPlan(t, on, [a, entry], ['add +entry', 'add a final']);
  assertPlan(t, { ...on, replace: true }, [a, b, entry], ['replace +entry', 'replace a', 'add b final']);
});

test('invalid combinations of upload options are refused', (t) => {
  const senseless: [UploadOptions, string[], typeof entry | null, RegExp][] = [
    [NEW, [], null, /Nothing to upload/],
    [NEW, ['a', ''], entry, /'' is not a path: /],
    [NEW, ['a'], null, /needs metadata/],
    [NEW, [], entry, /needs an archive/],
    [{ ...NEW, replace: true }, ['a'], entry, /--replace needs --deposit/],
  ];
  for (const [wishes, archives, metadata, message] of senseless) {
    t.throws(() => assertSensible(wishes, archives, metadata), { instanceOf: UsageFault, message });
  }
  t.notThrows(() => assertSensible({ ...NEW, partial: true }, ['a'], null));
  t.notThrows(() => assertSensible({ ...NEW, deposit: '7' }, [], entry));
});

test('exclusions with a slash match the path, others each name', (t) => {
  const isExcluded = exclusion(['*.o', 'build/', 'src/gen/**', './top', 'caf\u00e9']);
  const excluded = [
    'a.o',
    'x/y.o',
    'build',
    'x/build',
    'src/gen/a/b',
    'top',
    '.git',
    'x/.git',
    'caf\u00c3\u00a9',
  ];
  t.deepEqual(
    excluded.filter((name) => !isExcluded(name)),
    [],
  );
  t.deepEqual(['o', 'a.o.c', 'rebuild', 'x/src/gen/a', 'x/top', '.gitignore'].filter(isExcluded), []);
});

test('an exclusion with a reversed range is wrong usage', (t) => {
  for (const pattern of ['[z-a]', 'a/[a--]'])
    t.throws(() => exclusion([pattern]), { instanceOf: UsageFault, message: /is not a pattern/ });
});

test('wildcards of exclusions match hidden files, too', (t) => {
  const cases: [pattern: string, excluded: string[], kept: string[]][] = [
    ['*.key', ['.prod.key', '.key', 'a/.b/.key', 'a.key'], ['key', '.key.pub']],
    ['?env', ['.env', 'a/.env', 'xenv'], ['env', '..env']],
    ['[._]env', ['.env', '_env'], ['env', 'xenv']],
    ['{.a,b}.*', ['.a.c', 'b..c'], ['a.c', '.b.c']],
    ['a/*/c', ['a/.b/c', 'a/b/c'], ['a/c', 'a/b/.b/c']],
    ['**/*.key', ['.key', 'a/.b/.c.key', '.d/e.key'], ['a/key']],
    ['a/**', ['a/.b/.c', 'a/.d', 'a/e'], ['.a/b']],
    ['{a,**}/b', ['a/b', 'x/y/b'], ['a/c']],
    ['!a', ['!a'], ['a', '.a']],
  ];
  for (const [pattern, excluded, kept] of cases) {
    const isExcluded = exclusion([pattern]);
    t.deepEqual([...excluded, ...kept].filter(isExcluded), excluded, pattern);
  }
});

test('paths of Windows become names and members as elsewhere', (t) => {
  const { win32 } = path;
  t.is(archiveName(win32.resolve('C:\\work', 'paint\\'), true, win32), 'paint.tar.gz');
  t.is(archiveName(win32.resolve('C:\\work', '..'), true, win32), 'source.tar.gz');
  t.is(archiveName(win32.resolve('\\\\host\\share\\a b.zip'), false, win32), 'a b.zip');
  t.is(withSlashes('..\\src\\paint.py', 'win32'), '../src/paint.py');
  t.is(withSlashes('a\\b', 'linux'), 'a\\b');
  const isExcluded = exclusion(['src\\gen\\**', '.\\top', 'build\\'], 'win32');
  t.deepEqual(['src/gen/a', 'top', 'x/build', 'src/gen', 'x/top'].filter(isExcluded), [
    'src/gen/a',
    'top',
    'x/build',
  ]);
});

test('a downloaded file gets a name that is possible on the platform, in the current folder', (t) => {
  const cases: [given: string, windows: string, elsewhere?: string][] = [
    ['C:\\evil\\paint.zip', 'paint.zip'],
    ['C:paint.zip', 'C_paint.zip'],
    ['../../paint.zip', 'paint.zip'],
    ['..', 'deposit.archive'],
    ['-', 'deposit.archive'],
    ['nul', '_nul', 'nul'],
    ['COM1.tar.gz', '_COM1.tar.gz', 'COM1.tar.gz'],
    ['lpt\u00b9', '_lpt\u00b9', 'lpt\u00b9'],
    ['aux .zip', '_aux .zip', 'aux .zip'],
    ['console.zip', 'console.zip'],
    ['com10.zip', 'com10.zip'],
    ['a<b>|"c?*.zip', 'a_b___c__.zip', 'a<b>|"c?*.zip'],
    ['paint.zip. .', 'paint.zip', 'paint.zip. .'],
    ['a:b\u0000', 'a_b_'],
  ];
  for (const [given, windows, elsewhere = windows] of cases) {
    t.is(safeFilename(given, 'win32'), windows, given);
    t.is(safeFilename(given, 'linux'), elsewhere, given);
  }
});

test('only a packed folder that is too large is called packed', (t) => {
  const service = {
    maxUploadSize: 5,
    maxResumableUploadSize: null,
    unpackedLimits: READING_LIMITS,
    clientDomain: null,
    collections: [],
  };
  const one = { ...collection, resumableUploads: null };
  const large = { ...archive('./a.zip', 6), file: '/work/a.zip' };
  t.throws(() => assertAccepted(large, service, one), {
    message: /: 6 bytes; the server accepts at most 5\.$/,
  });
  const packed = { ...large, directory: '0'.repeat(40) };
  t.throws(() => assertAccepted(packed, service, one), { message: /: 6 bytes packed; / });
});
