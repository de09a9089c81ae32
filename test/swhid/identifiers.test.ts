import { hash } from 'node:crypto';
import test from 'ava';
import { contentHash, contentId, contentIdOf } from '../../src/swhid/content.ts';
import {
  type Directory,
  DirectoryBodyBuilder,
  directoryBody,
  directoryId,
  type Leaf,
} from '../../src/swhid/directory.ts';
import { revisionBody, revisionId } from '../../src/swhid/revision.ts';
import { type Branch, snapshotBody, snapshotId } from '../../src/swhid/snapshot.ts';
import {
  formatQualifiedSwhid,
  formatSwhid,
  parseQualifiedSwhid,
  parseReference,
  parseSwhid,
} from '../../src/swhid/swhid.ts';
import { releaseBody, releaseId } from './release.ts';
import { type BranchVector, type TreeVector, vectors } from './vectors.ts';

for (const vector of vectors.content) {
  test(`the content ${vector.id} has the same id in one piece and in chunks`, (t) => {
    const { data_base64, data_repeat } = vector;
    const bytes = data_repeat
      ? Buffer.alloc(data_repeat.count, data_repeat.byte_hex, 'hex')
      : Buffer.from(data_base64 ?? '', 'base64');
    t.is(hash('sha256', bytes), vector.sha256);
    t.is(contentId(bytes), vector.sha1_git);
    const middle = bytes.length >> 1;
    const pieces = contentHash(bytes.length).update(bytes.subarray(0, middle)).update(bytes.subarray(middle));
    t.is(pieces.digest(), vector.sha1_git);
  });
}

test('a content above the one-shot limit has the id of its chunks', (t) => {
  const bytes = Buffer.alloc(1024 ** 2 + 1, 'x');
  t.is(contentId(bytes), contentHash(bytes.length).update(bytes).digest());
});

for (const vector of vectors.directory) {
  test(`the directory ${vector.id} has its id`, (t) => {
    const directory = vector.entries ? treeOf(vector.entries) : thousandFiles();
    if (vector.tree_body_hex !== undefined)
      t.is(directoryBody(directory).toString('hex'), vector.tree_body_hex);
    t.is(formatSwhid({ type: 'dir', id: directoryId(directory) }), vector.swhid);
  });
}

for (const vector of vectors.revision) {
  test(`the revision ${vector.id} has its id`, (t) => {
    const revision = {
      directory: vector.directory,
      parents: vector.parents,
      author: { fullname: vector.author, time: vector.author_date },
      committer: { fullname: vector.committer, time: vector.committer_date },
      extraHeaders: vector.extra_headers,
      message: textOf(vector.message_base64),
    };
    t.is(revisionBody(revision).toString('base64'), vector.body_base64);
    t.is(formatSwhid({ type: 'rev', id: revisionId(revision) }), vector.swhid);
  });
}

for (const vector of vectors.release) {
  test(`the release ${vector.id} has its id`, (t) => {
    const release = {
      target: vector.target,
      targetType: vector.target_type,
      name: textOf(vector.name_base64) ?? '',
      author: vector.author === null ? null : { fullname: vector.author, time: vector.date },
      message: textOf(vector.message_base64),
    };
    t.is(releaseBody(release).toString('base64'), vector.body_base64);
    t.is(formatSwhid({ type: 'rel', id: releaseId(release) }), vector.swhid);
  });
}

for (const vector of vectors.snapshot) {
  test(`the snapshot ${vector.id} has its id`, (t) => {
    const branches = vector.branches.map(branchOf);
    t.is(snapshotBody(branches).toString('base64'), vector.body_base64);
    t.is(formatSwhid({ type: 'snp', id: snapshotId(branches) }), vector.swhid);
  });
}

for (const vector of vectors.qualified) {
  test(`the qualified identifier ${vector.id} is rendered and parsed`, (t) => {
    const { origin, visit, anchor, path_base64, lines } = vector;
    const [first, last] = (lines ?? '').split('-').map(Number);
    const qualifiers = {
      ...(origin !== null && { origin }),
      ...(visit !== null && { visit: parseSwhid(visit) }),
      ...(anchor !== null && { anchor: parseSwhid(anchor) }),
      ...(path_base64 !== null && { path: Buffer.from(path_base64, 'base64').toString('latin1') }),
      ...(lines !== null && { lines: { first: first!, ...(last !== undefined && { last }) } }),
    };
    const swhid = { ...parseSwhid(vector.core), qualifiers };
    t.is(formatQualifiedSwhid(swhid), vector.string);
    t.deepEqual(parseQualifiedSwhid(vector.string), swhid);
  });
}

for (const text of [
  ...vectors.invalid_strings,
  `swh:1:dir:${'0'.repeat(40)}\n`,
  `swh:1:dir:${'0'.repeat(40)};path=/a;path=/b`,
  `swh:1:dir:${'0'.repeat(40)};path=a`,
  `swh:1:dir:${'0'.repeat(40)};path=/%4`,
  `swh:1:dir:${'0'.repeat(40)};__proto__=x`,
  `swh:1:cnt:${'0'.repeat(40)};lines=0`,
  `swh:1:cnt:${'0'.repeat(40)};originx`,
]) {
  test(`${JSON.stringify(text)} is no identifier`, (t) => {
    t.throws(() => parseQualifiedSwhid(text), { code: 'INVALID_SWHID' });
  });
}

test('a content read as a stream has an id only if its length is as announced', (t) => {
  for (const length of [3, 1024 ** 2 - 1, 1024 ** 2, 3 * 1024 ** 2]) {
    const bytes = Buffer.alloc(length, 'ab');
    const idOf = (said: number): string | undefined => {
      let at = 0;
      return contentIdOf(said, (room) => {
        const count = bytes.copy(room, 0, at);
        at += count;
        return count;
      });
    };
    t.is(idOf(length), contentId(bytes));
    t.deepEqual([idOf(length - 1), idOf(length + 1)], [undefined, undefined], String(length));
  }
});

test('the body of a directory has a slash after the names of directories for its order', (t) => {
  const leaf = { mode: '100644', id: contentId(Buffer.from('x')) } as const;
  const below: Directory = new Map([['f', leaf]]);
  const folder = { mode: '40000', id: directoryId(below) } as const;
  const names = ['a', 'a-', 'a--', 'a-0', 'a.b', 'a0', 'ab', '\xe9'];
  for (let folders = 0; folders < 2 ** names.length; folders += 1) {
    const isFolder = (name: string) => (folders >> names.indexOf(name)) % 2 === 1;
    const expected = names
      .map((name) => (isFolder(name) ? `${name}/` : name))
      .sort()
      .map((key) => ({ name: key.replace('/', ''), ...(key.endsWith('/') ? folder : leaf) }))
      .map(({ mode, name, id }) => `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`);
    const builder = new DirectoryBodyBuilder();
    for (const name of names) builder.add({ name, ...(isFolder(name) ? folder : leaf) });
    t.is(builder.end().toString('latin1'), expected.join(''));
    const whole: Directory = new Map(names.toReversed().map((name) => [name, isFolder(name) ? below : leaf]));
    t.is(directoryBody(whole).toString('latin1'), expected.join(''));
  }
});

test('a range of a content may be one line or one byte, and does not end before its start', (t) => {
  const core = `swh:1:cnt:${'0'.repeat(40)}`;
  for (const part of ['lines=5-5', 'bytes=0-0', 'lines=5-6', 'bytes=7'])
    t.notThrows(() => parseReference(`${core};${part}`));
  for (const part of ['lines=5-4', 'bytes=1-0'])
    t.throws(() => parseReference(`${core};${part}`), { code: 'INVALID_SWHID' });
});

test('a range keeps its numbers, and is refused if they are larger than a safe integer', (t) => {
  const core = `swh:1:cnt:${'0'.repeat(40)}`;
  for (const part of ['lines=1-9007199254740991', 'bytes=9007199254740991'])
    t.is(formatQualifiedSwhid(parseReference(`${core};${part}`)), `${core};${part}`);
  for (const part of ['lines=9007199254740993', `lines=1-1${'0'.repeat(24)}`, `bytes=0-${'9'.repeat(400)}`])
    t.throws(() => parseReference(`${core};${part}`), {
      code: 'INVALID_SWHID',
      message: /has (lines|bytes) above 9007199254740991/,
    });
});

test('an origin with escapes survives a round trip', (t) => {
  const qualifiers = { origin: 'https://example.org/a%3Bb;c%253B%25' };
  const swhid = { type: 'dir', id: '0'.repeat(40), qualifiers } as const;
  t.deepEqual(parseQualifiedSwhid(formatQualifiedSwhid(swhid)), swhid);
});

function treeOf(entries: readonly TreeVector[]): Directory {
  return new Map(
    entries.map((entry) => [Buffer.from(entry.name_hex, 'hex').toString('latin1'), nodeOf(entry)]),
  );
}

const modes = { file: '100644', exec: '100755', link: '120000' } as const;

function nodeOf({ kind, entries, data_base64, link_target_base64 }: TreeVector): Leaf | Directory {
  if (kind === 'dir') return treeOf(entries ?? []);
  const bytes = Buffer.from(data_base64 ?? link_target_base64 ?? '', 'base64');
  return { mode: modes[kind], id: contentId(bytes) };
}

/** Returns the single directory that the vectors describe in words. */
function thousandFiles(): Directory {
  const leaf = (index: number): Leaf => ({ mode: '100644', id: contentId(Buffer.from(`${index}\n`)) });
  return new Map(
    Array.from({ length: 1000 }, (_, index) => [`f${String(index).padStart(4, '0')}`, leaf(index)]),
  );
}

function branchOf({ name_base64, target_type, target }: BranchVector): Branch {
  const name = Buffer.from(name_base64, 'base64').toString('latin1');
  if (target_type === 'dangling' || target === null) return { name, targetType: 'dangling' };
  if (target_type === 'alias')
    return { name, targetType: 'alias', target: Buffer.from(target).toString('latin1') };
  return { name, targetType: target_type, target };
}

function textOf(base64: string | null): string | null {
  return base64 === null ? null : Buffer.from(base64, 'base64').toString();
}
