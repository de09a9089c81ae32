import { paxHeader, type TarSpec, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { type ArchiveCase, done, rejected, tars } from './corpus-case.ts';

const one: TarSpec = { name: 'salt/README', data: 'From the marsh.\n' };
const directory = { type: '5', mode: 0o755 } as const;

function also(...members: readonly TarSpec[]): Buffer {
  return tarOf([one, ...members]);
}

function named(...names: readonly (string | Buffer)[]): Buffer {
  return also(...names.map((name, index) => ({ name, data: `${index}` })));
}

function link(name: string, linkName: string): TarSpec {
  return { name, type: '2', linkName };
}

function hardLink(name: string, linkName: string): TarSpec {
  return { name, type: '1', linkName };
}

const hostile = tars([
  ['tar-name-empty', 'a name is empty', named(''), rejected(/empty name/)],
  ['tar-name-up', 'a name climbs', named('salt/../../pan'), rejected(/traversal/)],
  ['tar-name-absolute', 'a name is absolute', named('/var/spool/pan'), rejected(/absolute/)],
  ['tar-name-drive', 'a name has a drive letter', named('c:/pan'), rejected(/drive letter/)],
  ['tar-name-backslash', 'a name climbs with backslashes', named('..\\pan'), rejected(/traversal/)],
  [
    'tar-name-256',
    'a name has 256 bytes',
    also(paxHeader({ path: 'n'.repeat(256) }), one),
    rejected(/256 bytes/),
  ],
  [
    'tar-path-4097',
    'a path has 4,097 bytes',
    also(paxHeader({ path: `${'nnn/'.repeat(1024)}x` }), one),
    rejected(/4097 bytes/),
  ],
  [
    'tar-depth-65',
    'a file is in 65 folders',
    also(paxHeader({ path: `${'d/'.repeat(65)}x` }), one),
    rejected(/65 folders/),
  ],
  ['tar-prefix-up', 'the prefix of a name climbs', also({ ...one, prefix: '../..' }), rejected(/traversal/)],
  [
    'tar-character-device',
    'a member is a character device',
    also({ name: 'dev', type: '3' }),
    rejected(/character device/),
  ],
  [
    'tar-block-device',
    'a member is a block device',
    also({ name: 'dev', type: '4' }),
    rejected(/block device/),
  ],
  ['tar-fifo', 'a member is a FIFO', also({ name: 'pipe', type: '6' }), rejected(/FIFO/)],
  ...['8', '9', 'A', 'D', 'M', 'N', 'V', 'X', 'Z', '!', '\x01'].map(
    (type) =>
      [
        `tar-type-${type.charCodeAt(0)}`,
        `a member has the type ${JSON.stringify(type)}`,
        also({ name: 'odd', type }),
        rejected(/unsupported type/),
      ] as const,
  ),
  [
    'hard-link-missing',
    'a hard link leads to nothing',
    also(hardLink('h', 'salt/NONE')),
    rejected(/no earlier file/),
  ],
  [
    'hard-link-later',
    'a hard link leads to a later member',
    tarOf([hardLink('h', 'salt/README'), one]),
    rejected(/no earlier file/),
  ],
  ['hard-link-out', 'a hard link leads out', also(hardLink('h', '../../etc/shadow')), rejected(/traversal/)],
  ['hard-link-absolute', 'a hard link is absolute', also(hardLink('h', '/etc/shadow')), rejected(/absolute/)],
  [
    'hard-link-to-directory',
    'a hard link leads to a directory',
    also({ name: 'd/', ...directory }, hardLink('h', 'd')),
    rejected(/no earlier file/),
  ],
  [
    'hard-link-to-implied',
    'a hard link leads to an implied directory',
    also(hardLink('h', 'salt')),
    rejected(/no earlier file/),
  ],
  [
    'hard-link-target-again',
    'the target of a hard link comes again',
    also(hardLink('h', 'salt/README'), { ...one, data: 'From the sea.\n' }),
    rejected(/comes again/),
  ],
  ['hard-link-empty', 'a hard link has no target', also(hardLink('h', '')), rejected(/empty name/)],
  [
    'hard-link-through-link',
    'a hard link leads through a link',
    also(link('way', 'salt'), hardLink('h', 'way/README')),
    rejected(/no earlier file/),
  ],
  ['tar-link-empty', 'a link has no target', also(link('l', '')), rejected(/empty target/)],
  [
    'tar-link-long',
    'a target has 4,097 bytes',
    also(paxHeader({ linkpath: 't'.repeat(4097) }), link('l', 'x')),
    rejected(/too long: 4097/),
  ],
  [
    'tar-link-nul',
    'a target has a NUL',
    also(paxHeader({ linkpath: 'salt/README\0.txt' }), link('l', 'x')),
    rejected(/target that holds a NUL/),
  ],
  [
    'tar-link-nul-gnu',
    'a long target has a NUL, where other readers let it end',
    also({ name: '././@LongLink', type: 'K', data: `${'t'.repeat(150)}\0tail\0` }, link('l', '')),
    rejected(/target that holds a NUL/),
  ],
  [
    'tar-below-link',
    'a file is below a link',
    also(link('way', '/tmp'), { name: 'way/x', data: 'x' }),
    rejected(/is a link and a directory/),
  ],
  [
    'tar-below-link-deep',
    'a directory is below links',
    also(link('a', 'salt'), { name: 'a/b/c/', ...directory }),
    rejected(/conflict/),
  ],
  [
    'tar-link-over-directory',
    'a link takes the place of a directory',
    also(link('salt', '/tmp')),
    rejected(/conflict/),
  ],
  ['tar-below-file', 'a file lies below a file', named('pan', 'pan/x'), rejected(/conflict/)],
  [
    'tar-directory-over-file',
    'a directory has the name of a file',
    named('pan', 'pan/x', 'pan/'),
    rejected(/conflict/),
  ],
  ['tar-file-at-root', 'a file has the name of the root', named('.'), rejected(/root directory/)],
  [
    'tar-of-a-tar',
    'the only file is a tar',
    tarOf([{ name: 'a.tar', data: tarOf([one]) }]),
    rejected(/nothing but an archive/),
  ],
  [
    'tar-of-archives',
    'the files are a zip and a tar',
    tarOf([
      { name: 'd/', ...directory },
      { name: 'd/a', data: zipOf([]) },
      { name: 'd/b', data: tarOf([one]) },
    ]),
    rejected(/nothing but an archive/),
  ],
]);

const fine = tars([
  ['tar-v7', 'an old tar', tarOf([{ ...one, type: '\0', magic: '' }]), done],
  [
    'tar-v7-directory',
    'an old tar marks a directory by its slash',
    tarOf([
      { ...one, magic: '' },
      { name: 'pan/', type: '\0', magic: '' },
    ]),
    done,
  ],
  ['tar-gnu', 'a tar of GNU', tarOf([{ ...one, magic: 'ustar  \0' }]), done],
  ['tar-prefix', 'a name with a prefix', tarOf([{ ...one, prefix: 'from/the/sea' }]), done],
  ['tar-contiguous', 'a contiguous file is a file', tarOf([{ ...one, type: '7' }]), done],
  [
    'tar-directories',
    'directories and no file',
    tarOf([
      { name: 'a/', ...directory },
      { name: 'b', ...directory },
    ]),
    done,
  ],
  [
    'tar-root',
    'the root is a member',
    tarOf([
      { name: './', ...directory },
      { ...one, name: './README' },
    ]),
    done,
  ],
  ['tar-empty-file', 'a file without a byte', also({ name: 'empty' }), done],
  ['tar-executable', 'a file may be executed', also({ name: 'run', data: '#!', mode: 0o755 }), done],
  [
    'tar-odd-modes',
    'modes with odd bits',
    also({ name: 'a', data: 'x', mode: 0o7777 }, { name: 'b', data: 'x', mode: 0 }),
    done,
  ],
  ['tar-hard-link', 'a hard link', also(hardLink('h', 'salt/README'), hardLink('again', 'h')), done],
  ['tar-hard-link-to-itself', 'a hard link to itself', also(hardLink('salt/README', 'salt/README')), done],
  [
    'tar-hard-link-to-link',
    'a hard link to a link',
    also(link('l', 'salt/README'), hardLink('h', 'l')),
    done,
  ],
  ['tar-link', 'a link', also(link('l', 'salt/README')), done],
  [
    'tar-link-out',
    'links lead out of the tree, and are retained',
    also(link('a', '/etc/passwd'), link('b', '../../x')),
    done,
  ],
  ['tar-links-in-a-ring', 'links lead in a ring', also(link('a', 'b'), link('b', 'c'), link('c', 'a')), done],
  ['tar-duplicate', 'the later of two members counts', also({ ...one, data: 'From the sea.\n' }), done],
  [
    'tar-file-over-link',
    'a file takes the place of a link',
    also(link('l', '/tmp'), { name: 'l', data: 'x' }),
    done,
  ],
  [
    'tar-duplicate-directory',
    'a directory comes twice',
    also({ name: 'd/', ...directory }, { name: 'd/', ...directory }),
    done,
  ],
  ['tar-latin1-names', 'names are no UTF-8', named(Buffer.of(0x61, 0xe9), Buffer.of(0x61, 0xe8)), done],
  [
    'tar-names-of-objects',
    'names mean something to programs',
    named('__proto__', '__proto__x/constructor', 'toString'),
    done,
  ],
  ['tar-control-characters', 'names hold control characters', named('a\nb', '\x1b[2J'), done],
  [
    'tar-inner-archive',
    'a source tree has an archive in it',
    also({ name: 'test/a.tar', data: tarOf([one]) }),
    done,
  ],
  ['tar-file-of-zeros', 'a file of zeros', also({ name: 'zeros', data: Buffer.alloc(2048) }), done],
  [
    'tar-thousand',
    'a thousand files',
    () => named(...Array.from({ length: 1000 }, (_, index) => `t/${index}`)),
    done,
  ],
]);

export const tarMembers: readonly ArchiveCase[] = [...hostile, ...fine];
