import { type ZipSpec, zipOf } from '../../testing/archives/archive-builders.ts';
import { type ArchiveCase, done, rejected, zips } from './corpus-case.ts';

const plain: ZipSpec = { name: 'loom/warp.txt', data: 'Forty threads.\n' };

function named(...names: readonly (string | Buffer)[]): Buffer {
  return zipOf([plain, ...names.map((name, index) => ({ name, data: `${index}` }))]);
}

const link = 0o120777;
const latin1 = { flags: 0 };

const hostile = zips([
  ['name-empty', 'a name is empty', named(''), rejected(/empty name/)],
  ['name-slash', 'a name is a slash', named('/'), rejected(/absolute/)],
  ['name-up', 'a name climbs', named('../weft.txt'), rejected(/traversal/)],
  ['name-up-inside', 'a name climbs and comes back', named('loom/../loom/weft.txt'), rejected(/traversal/)],
  ['name-up-at-end', 'a name ends by climbing', named('loom/..'), rejected(/traversal/)],
  ['name-up-backslash', 'a name climbs with backslashes', named('loom\\..\\..\\weft'), rejected(/traversal/)],
  ['name-up-mixed', 'a name climbs with both slashes', named('loom/..\\weft'), rejected(/traversal/)],
  ['name-up-directory', 'a directory climbs', named('../'), rejected(/traversal/)],
  ['name-absolute', 'a name is absolute', named('/etc/profile.d/x.sh'), rejected(/absolute/)],
  ['name-two-slashes', 'a name begins with two slashes', named('//host/share'), rejected(/absolute/)],
  ['name-backslash', 'a name is absolute elsewhere', named('\\weft.txt'), rejected(/absolute/)],
  ['name-share', 'a name is a share', named('\\\\host\\share\\weft'), rejected(/absolute/)],
  ['name-drive', 'a name has a drive letter', named('C:\\weft.txt'), rejected(/drive letter/)],
  ['name-drive-relative', 'a name is relative to a drive', named('d:weft.txt'), rejected(/drive letter/)],
  ['name-nul', 'a name has a NUL', named('weft.txt\0.zip'), rejected(/NUL/)],
  ['name-nul-at-end', 'a name ends with a NUL', named('weft.txt\0'), rejected(/NUL/)],
  ['name-256', 'a name has 256 bytes', named('w'.repeat(256)), rejected(/256 bytes; the limit is 255/)],
  [
    'name-256-inside',
    'a directory has a name of 256 bytes',
    named(`${'w'.repeat(256)}/x`),
    rejected(/256 bytes/),
  ],
  [
    'name-65535',
    'a name is as long as a name can be',
    named('w'.repeat(65_535)),
    rejected(/65535 bytes long/),
  ],
  ['path-4097', 'a path has 4,097 bytes', named(`${'www/'.repeat(1024)}x`), rejected(/4097 bytes long/)],
  ['depth-65', 'a file is in 65 folders', named(`${'d/'.repeat(65)}x`), rejected(/65 folders/)],
  [
    'name-not-utf8',
    'a name is not the UTF-8 it is said to be',
    named(Buffer.of(0x77, 0xff, 0xfe)),
    rejected(/UTF-8/),
  ],
  [
    'name-surrogate',
    'a name holds an encoded surrogate',
    named(Buffer.of(0xed, 0xa0, 0x80)),
    rejected(/UTF-8/),
  ],
  [
    'name-overlong',
    'a name hides two dots as overlong UTF-8',
    named(Buffer.of(0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x77)),
    rejected(/UTF-8/),
  ],
  ['name-escapes', 'a name has terminal escapes and climbs', named('../\x1b]0;weft\x07'), rejected(/\\x1b/)],
  ['name-markup', 'a name has markup and climbs', named('../<b>&amp;]]></b>'), rejected(/&lt;b&gt;/)],
  [
    'name-right-to-left',
    'a name runs right to left and climbs',
    named('../\u202egpj.exe'),
    rejected(/traversal/),
  ],
  [
    'duplicate',
    'two entries have one name',
    zipOf([plain, { ...plain, data: 'Other.' }]),
    rejected(/duplicate/),
  ],
  ['duplicate-same', 'an entry comes twice', zipOf([plain, plain]), rejected(/duplicate/)],
  ['duplicate-unclean', 'two names are one path', named('./loom//warp.txt'), rejected(/duplicate/)],
  ['duplicate-directory', 'a directory comes twice', named('loom/', 'loom/'), rejected(/duplicate/)],
  [
    'duplicate-many',
    'a hundred entries have one name',
    named(...Array(100).fill('weft')),
    rejected(/duplicate/),
  ],
  [
    'faults-many',
    'fifty members are at fault',
    named(...Array.from({ length: 50 }, (_, index) => `../${index}`)),
    rejected(/Not listed: \d+ more/),
  ],
  ['file-and-directory', 'a file is a directory, too', named('spool', 'spool/thread'), rejected(/conflict/)],
  ['directory-and-file', 'a directory is a file, too', named('spool/thread', 'spool'), rejected(/conflict/)],
  [
    'below-link',
    'a member is below a link',
    zipOf([
      { name: 'spool', data: '/tmp', mode: link },
      { name: 'spool/x', data: 'x' },
    ]),
    rejected(/is a (link|file) and a directory/),
  ],
  [
    'link-long',
    'the target of a link has 4,097 bytes',
    zipOf([{ name: 'l', data: 't'.repeat(4097), mode: link }]),
    rejected(/too long: 4097/),
  ],
  [
    'link-empty',
    'a link has no target',
    zipOf([plain, { name: 'l', data: '', mode: link }]),
    rejected(/empty target/),
  ],
  ...(
    [
      ['character-device', 0o020666],
      ['block-device', 0o060660],
      ['fifo', 0o010644],
      ['socket', 0o140755],
      ['whiteout', 0o160000],
    ] as const
  ).map(
    ([name, mode]) =>
      [name, `a member is a ${name}`, zipOf([plain, { name: 'dev', mode }]), rejected(/device/)] as const,
  ),
  [
    'zip-of-a-zip',
    'the only file is a zip',
    zipOf([{ name: 'a.zip', data: zipOf([plain]) }]),
    rejected(/nothing but an archive/),
  ],
  [
    'zip-of-archives',
    'all files are archives',
    zipOf([
      { name: 'a.bin', data: zipOf([plain]) },
      { name: 'b.txt', data: Buffer.of(0x1f, 0x8b, 8, 0) },
    ]),
    rejected(/nothing but an archive/),
  ],
  ['no-entries', 'there is no entry', zipOf([]), rejected(/empty/)],
]);

const fine = zips([
  ['one-file', 'one file', zipOf([plain]), done],
  ['one-stored', 'one stored file', zipOf([{ ...plain, method: 0 }]), done],
  ['empty-file', 'a file without a byte', zipOf([{ name: 'nothing', data: '' }]), done],
  ['empty-directories', 'directories and no file', zipOf([{ name: 'warp/' }, { name: 'weft/pick/' }]), done],
  ['directory-mode', 'a directory has its mode', zipOf([plain, { name: 'weft/', mode: 0o040755 }]), done],
  ['executable', 'a file may be executed', zipOf([{ ...plain, mode: 0o100755 }]), done],
  ['link', 'a link leads to a file', zipOf([plain, { name: 'l', data: 'loom/warp.txt', mode: link }]), done],
  [
    'link-out',
    'a link leads out of the tree, and is retained',
    zipOf([plain, { name: 'l', data: '../../etc', mode: link }]),
    done,
  ],
  [
    'links-in-a-ring',
    'two links lead to each other',
    zipOf([plain, { name: 'l', data: 'm', mode: link }, { name: 'm', data: 'l', mode: link }]),
    done,
  ],
  ['utf8-names', 'names in several scripts', named('Łódź/przędza', '東京/糸', '😀'), done],
  [
    'cp437-names',
    'names of an old program',
    zipOf([{ name: Buffer.of(0x81, 0x6e), ...latin1, data: 'x' }]),
    done,
  ],
  ['case-twins', 'names differ in case alone', named('Warp', 'warp', 'WARP'), done],
  ['composed-twins', 'names differ in their composition alone', named('\u00e9', 'e\u0301'), done],
  [
    'names-of-objects',
    'names mean something to programs',
    named('__proto__', 'constructor/prototype', 'toString', 'hasOwnProperty'),
    done,
  ],
  ['names-of-devices', 'names mean something elsewhere', named('CON', 'aux.txt', 'ab:c', 'x.', ' '), done],
  ['dots', 'names of many dots', named('...', '..x', 'x..', '.x', '.git/config'), done],
  ['unclean', 'names are not clean', named('./a', 'b//c', 'd/./e'), done],
  ['backslashes', 'a backslash in a name', named('a\\b'), done],
  ['control-characters', 'names hold control characters', named('a\nb', 'c\x1bd', '\x7f'), done],
  ['name-255', 'a name has 255 bytes', named('w'.repeat(255)), done],
  ['depth-64', 'a file lies in 64 folders', named(`${'d/'.repeat(64)}x`), done],
  [
    'inner-archive',
    'a source tree has an archive in it',
    zipOf([plain, { name: 'test/sample.zip', data: zipOf([plain]) }]),
    done,
  ],
  [
    'file-of-zeros',
    'a file looks like the end of a tar',
    zipOf([{ name: 'zeros', data: Buffer.alloc(1024) }]),
    done,
  ],
  [
    'thousand',
    'a thousand files',
    () => named(...Array.from({ length: 1000 }, (_, index) => `t/${index}`)),
    done,
  ],
]);

export const zipNames: readonly ArchiveCase[] = [...hostile, ...fine];
