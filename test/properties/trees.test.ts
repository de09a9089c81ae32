import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import * as fc from 'fast-check';
import { paxHeader, type TarSpec, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { gitTreeOf, type TreeMember } from '../../testing/archives/git-tree.ts';
import { accepted, directoryOf, refused } from '../archives/reading.ts';
import { xzOf } from '../corpus/xz-stream.ts';
import { anyCharacter } from './odd-texts.ts';

type Leaf = { readonly data: Buffer; readonly executable: boolean; readonly target: string | null };
type Tree = Map<string, Tree | Leaf>;

const name = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
  .map((text) => text.toWellFormed())
  .filter((text) => !/[/\0\\]|^\.{1,2}$|^[A-Za-z]:/.test(text) && Buffer.byteLength(text) <= 255);
const leaf: fc.Arbitrary<Leaf> = fc.record({
  data: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  executable: fc.boolean(),
  target: fc.option(fc.stringMatching(/^[a-z/]{1,30}$/), { freq: 5 }),
});
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc
    .array(fc.tuple(name, fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('tree'))), {
      maxLength: 5,
    })
    .map((entries) => new Map(entries)),
}));
const project = tree.filter((root) => [...pathsOf(root)].length > 0);

function* pathsOf(tree: Tree, prefix = ''): Generator<[path: string, leaf: Leaf | null]> {
  for (const [entry, value] of tree) {
    const path = prefix + entry;
    if (!(value instanceof Map)) yield [path, value];
    else if (value.size === 0) yield [path, null];
    else yield* pathsOf(value, `${path}/`);
  }
}

function latin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function tarSpecs(root: Tree): TarSpec[] {
  return [...pathsOf(root)].flatMap(([path, value]): TarSpec[] => {
    const long = Buffer.byteLength(path) > 99 ? [paxHeader({ path })] : [];
    if (value === null) return [...long, { name: path, type: '5' }];
    if (value.target !== null) return [...long, { name: path, type: '2', linkName: value.target }];
    return [...long, { name: path, data: value.data, mode: value.executable ? 0o755 : 0o644 }];
  });
}

/** Reduces a tree to what a zip can hold: files and directories. */
function plain(root: Tree): Tree {
  const entries = [...root].map(([entry, value]): [string, Tree | Leaf] => [
    entry,
    value instanceof Map ? plain(value) : { ...value, executable: false, target: null },
  ]);
  return new Map(entries);
}

function members(root: Tree): TreeMember[] {
  return [...pathsOf(root)].map(([path, value]): TreeMember => {
    if (value === null) return { path: latin1(path) };
    if (value.target !== null) return { path: latin1(path), mode: '120000', data: Buffer.from(value.target) };
    return { path: latin1(path), mode: value.executable ? '100755' : '100644', data: value.data };
  });
}

test('a tar of any tree has the identifier of the tree, packed or not', async (t) => {
  await fc.assert(
    fc.asyncProperty(project, fc.constantFrom(undefined, gzipSync, xzOf), async (root, pack) => {
      const tar = tarOf(tarSpecs(root));
      const archive = pack ? pack(tar) : tar;
      t.is(directoryOf(archive, await accepted(t, archive)), gitTreeOf(members(root)));
    }),
    { numRuns: 150 },
  );
});

test('a zip and a tar of one tree have one identifier', async (t) => {
  await fc.assert(
    fc.asyncProperty(project.map(plain), fc.boolean(), async (root, descriptor) => {
      const tar = tarOf(tarSpecs(root));
      const zip = zipOf(
        [...pathsOf(root)].map(([path, value]) => {
          if (value === null) return { name: `${path}/` };
          return {
            name: path,
            data: value.data,
            ...(descriptor && { descriptor: { signature: true, bytes: 4 as const } }),
          };
        }),
      );
      const directory = directoryOf(zip, await accepted(t, zip));
      t.is(directory, directoryOf(tar, await accepted(t, tar)));
      t.is(directory, gitTreeOf(members(root)));
    }),
    { numRuns: 150 },
  );
});

test('the order of the members does not change the identifier', async (t) => {
  await fc.assert(
    fc.asyncProperty(project, async (root) => {
      const hasLinks = [...pathsOf(root)].some(([path]) => Buffer.byteLength(path) > 99);
      fc.pre(!hasLinks);
      const [tar, turned] = [tarOf(tarSpecs(root)), tarOf(tarSpecs(root).toReversed())];
      t.is(directoryOf(tar, await accepted(t, tar)), directoryOf(turned, await accepted(t, turned)));
    }),
    { numRuns: 60 },
  );
});

test('a tree with a name that climbs is refused', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      project,
      fc.array(name, { maxLength: 3 }),
      fc.array(name, { maxLength: 3 }),
      async (root, before, after) => {
        const climbing = [...before, '..', ...after].join('/');
        const tar = tarOf([...tarSpecs(root), paxHeader({ path: climbing }), { name: 'x', data: 'x' }]);
        await refused(t, tar, 'PATH_TRAVERSAL', /traversal/);
      },
    ),
    { numRuns: 60 },
  );
});

test('git computes the same identifiers for the compared trees', (t) => {
  const git = (input: string | Buffer, ...args: string[]): string =>
    execFileSync('git', args, { input }).toString().trim();
  const blob = git('one\n', 'hash-object', '--stdin');
  const inner = git(`100755 blob ${blob}\tb\n`, 'mktree', '--missing');
  const outer = git(
    `040000 tree ${inner}\ta\n100644 blob ${blob}\ta.c\n120000 blob ${blob}\tab\n`,
    'mktree',
    '--missing',
  );
  const data = Buffer.from('one\n');
  const found = gitTreeOf([
    { path: 'ab', mode: '120000', data },
    { path: 'a.c', mode: '100644', data },
    { path: 'a/b', mode: '100755', data },
  ]);
  t.is(found, outer);
});
