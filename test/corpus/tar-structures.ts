import { paxHeader, type TarSpec, tarMember, tarOf } from '../../testing/archives/archive-builders.ts';
import { changed, spliced } from './byte-surgery.ts';
import { type ArchiveCase, done, type Expected, refused, rejected, tars } from './corpus-case.ts';

const one: TarSpec = { name: 'kite/README', data: 'Needs a breeze.\n' };
const two: TarSpec = { name: 'kite/tail.c', data: 'int tail = 3;\n' };
const good = tarOf([one, two]);
const end = Buffer.alloc(1024);

/** Sets the size field to these bytes. */
function sized(...field: readonly number[]): Buffer {
  const size = Buffer.alloc(12);
  Buffer.from(field).copy(size);
  return tarOf([one, { ...two, size }]);
}

function sizedAs(text: string): Buffer {
  return sized(...Buffer.from(text));
}

function withPax(records: Readonly<Record<string, string>>, member: TarSpec = two): Buffer {
  return tarOf([one, paxHeader(records), member]);
}

function withRawPax(data: string | Buffer): Buffer {
  return tarOf([one, { name: 'pax', type: 'x', data }, two]);
}

function longName(name: string, type: 'L' | 'K' = 'L'): TarSpec {
  return { name: '././@LongLink', type, data: `${name}\0` };
}

/** Returns a header whose checksum is the sum of signed bytes, as some old programs had it. */
function signedSum(): Buffer {
  const member = tarMember({ name: Buffer.from('caf\xe9', 'latin1'), data: 'x' });
  const header = Buffer.from(member.subarray(0, 512)).fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + (byte > 127 ? byte - 256 : byte), 0);
  return Buffer.concat([changed(member, 148, `${sum.toString(8).padStart(6, '0')}\0 `), end]);
}

const cuts = tars([
  ['no-end', 'the end marker is missing', good.subarray(0, -1024), done],
  ['half-an-end', 'the end marker is one block', good.subarray(0, -512), done],
  ['long-end', 'a hundred blocks of zeros follow', Buffer.concat([good, Buffer.alloc(51_200)]), done],
  ['odd-end', 'the end marker is cut in its second block', good.subarray(0, -100), done],
  ['cut-in-first-header', 'the first header is cut', good.subarray(0, 300), refused(415, /zip|tar/)],
  ['cut-in-header', 'a header is cut', good.subarray(0, 1024 + 200), rejected(/truncated/)],
  ['cut-in-data', 'data is cut', good.subarray(0, 1536 + 3), rejected(/truncated/)],
  ['cut-in-padding', 'the padding is cut', good.subarray(0, 1536 + 100), rejected(/truncated/)],
  ['cut-before-data', 'a header is the last', good.subarray(0, 1536), rejected(/truncated/)],
  [
    'bytes-after-end',
    'text follows the end',
    Buffer.concat([good, Buffer.from('more')]),
    rejected(/trailing/),
  ],
  ['tar-after-end', 'another tar follows', Buffer.concat([good, tarOf([two])]), rejected(/trailing/)],
  [
    'member-behind-one-block',
    'a member follows one block of zeros',
    spliced(good, -1024, 0, Buffer.concat([Buffer.alloc(512), tarMember({ name: 'late', data: 'x' })])),
    rejected(/trailing/),
  ],
  ['only-zeros', 'nothing but an end', end, rejected(/empty/)],
  [
    'checksum-wrong',
    'the checksum of the second header is wrong',
    changed(good, 1024 + 100, '7'),
    rejected(/checksum/),
  ],
  [
    'checksum-empty',
    'the second header has no checksum',
    changed(good, 1024 + 148, Buffer.alloc(8)),
    rejected(/checksum/),
  ],
  ['checksum-signed', 'the checksum is a sum of signed bytes', signedSum(), done],
  [
    'garbage-for-header',
    'a block of text stands for a header',
    spliced(good, 1024, 512, Buffer.alloc(512, 'kite')),
    rejected(/checksum/),
  ],
]);

const invalid = rejected(/size .* is invalid/);
const sizes = tars([
  ['size-base-256', 'a size is in base 256', sized(0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14), done],
  ['size-with-spaces', 'a size stands between spaces', sizedAs('        16 \0'), done],
  ['size-without-end', 'a size takes its whole field', sizedAs('000000000016'), done],
  ['size-empty', 'no size means no data', tarOf([one, { name: 'e', size: Buffer.alloc(12) }]), done],
  ['size-0x81', 'the first byte of a size is 0x81', sized(0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14), invalid],
  ['size-minus-one', 'a size is -1', sized(...Buffer.alloc(12, 0xff)), invalid],
  [
    'size-minus-512',
    'a size leads back to its own header',
    sized(...Buffer.alloc(10, 0xff), 0xfc, 0),
    invalid,
  ],
  ['size-2e53', 'a size is 2^53', sized(0x80, 0, 0, 0, 0, 0x20), invalid],
  ['size-2e90', 'a size has all its bits', sized(0xbf, ...Buffer.alloc(11, 0xff)), invalid],
  ['size-2e40', 'a size is a TiB', sized(0x80, 0, 0, 0, 0, 0, 1), rejected(/limit of the unpacked size/)],
  [
    'size-8-gib',
    'a size is as large as digits go',
    sizedAs('77777777777\0'),
    rejected(/limit of the unpacked size/),
  ],
  ['size-past-end', 'more is promised than there is', sizedAs('00000010000\0'), rejected(/truncated/)],
  ['size-of-nines', 'a size has invalid digits', sizedAs('00000000099\0'), invalid],
  ['size-minus-sign', 'a size has a sign', sizedAs('-0000000001\0'), invalid],
  ['size-hex', 'a size is hexadecimal', sizedAs('0x10\0'), invalid],
  ['size-with-text', 'text follows a size', sizedAs('16 bytes\0'), done],
  ['mode-of-text', 'a mode is text', changedHeader('rw-r--r', 100), rejected(/mode .* is invalid/)],
  [
    'directory-with-size',
    'a directory has data',
    tarOf([one, { name: 'kite/d/', type: '5', data: 'xx' }]),
    sizedNonFile(),
  ],
  [
    'directory-with-large-size',
    'a directory is said to have 1 GiB',
    tarOf([{ name: 'd/', type: '5', size: 1024 ** 3 }]),
    rejected(/limit|no regular file/),
  ],
  [
    'link-with-size',
    'a link has data',
    tarOf([one, { name: 'l', type: '2', linkName: 'kite', data: 'x' }]),
    sizedNonFile(),
  ],
  [
    'hard-link-with-size',
    'a hard link has data',
    tarOf([one, { name: 'l', type: '1', linkName: one.name.toString(), data: 'x' }]),
    sizedNonFile(),
  ],
  [
    'fifo-with-size',
    'a FIFO has data',
    tarOf([one, { name: 'f', type: '6', data: 'x' }]),
    rejected(/“f” is a FIFO/),
  ],
]);

function sizedNonFile(): Expected {
  return rejected(/is no regular file, yet has a size/);
}

/** Changes the text in the second header, and sets the checksum that fits. */
function changedHeader(text: string, at: number): Buffer {
  const copy = changed(good, 1024 + at, text).fill(' ', 1024 + 148, 1024 + 156);
  const sum = copy.subarray(1024, 1536).reduce((total, byte) => total + byte, 0);
  return changed(copy, 1024 + 148, `${sum.toString(8).padStart(6, '0')}\0 `);
}

const pax = tars([
  ['pax-path', 'a pax header has the name', withPax({ path: `kite/${'t'.repeat(200)}` }), done],
  [
    'pax-all',
    'a pax header says much',
    withPax({ mtime: '1.5', atime: '-3', uid: '1', size: '14', 'SCHILY.xattr.user.x': '\0\n=' }),
    done,
  ],
  [
    'pax-global',
    'a pax header is for all, as git writes it',
    tarOf([paxHeader({ comment: '0'.repeat(40) }, 'g'), one, two]),
    done,
  ],
  [
    'pax-global-twice',
    'two pax headers are for all',
    tarOf([paxHeader({ a: '1' }, 'g'), one, paxHeader({ a: '2' }, 'g'), two]),
    done,
  ],
  [
    'pax-names-of-objects',
    'keys mean something to programs',
    withPax({ __proto__x: '1', constructor: 'x', ['__proto__']: 'x' }),
    done,
  ],
  ['pax-key-twice', 'a key comes twice, and the last counts', withRawPax('10 path=a\n10 path=b\n'), done],
  ['pax-empty', 'a pax header has no record', withRawPax(''), done],
  ['pax-size-smaller', 'a pax header hides data', withPax({ size: '0' }), rejected(/mismatch/)],
  [
    'pax-size-larger',
    'a pax header takes the next header as data',
    tarOf([paxHeader({ size: '1038' }), { ...one, data: '' }, two]),
    rejected(/mismatch/),
  ],
  ['pax-size-negative', 'a pax size is negative', withPax({ size: '-14' }), rejected(/size .* is invalid/)],
  ['pax-size-broken', 'a pax size is a fraction', withPax({ size: '14.0' }), rejected(/size .* is invalid/)],
  [
    'pax-size-2e53',
    'a pax size is 2^53',
    withPax({ size: '9007199254740992' }),
    rejected(/size .* is invalid/),
  ],
  [
    'pax-size-endless',
    'a pax size has 400 digits',
    withPax({ size: '9'.repeat(400) }),
    rejected(/size .* is invalid/),
  ],
  [
    'pax-global-size',
    'a pax header for all says a size',
    tarOf([paxHeader({ size: '3' }, 'g'), one, two]),
    rejected(/mismatch/),
  ],
  [
    'pax-length-long',
    'a record is longer than its header',
    withRawPax('99 path=a\n'),
    rejected(/pax.* invalid/),
  ],
  [
    'pax-length-short',
    'a record is shorter than it is said to be',
    withRawPax('9 path=ab\n'),
    rejected(/pax.* invalid/),
  ],
  ['pax-length-zero', 'a record has no length', withRawPax('0 path=a\n'), rejected(/pax.* invalid/)],
  [
    'pax-length-huge',
    'a length has 20 digits',
    withRawPax(`${'9'.repeat(20)} path=a\n`),
    rejected(/pax.* invalid/),
  ],
  ['pax-no-equals', 'a record has no value', withRawPax('7 path\n'), rejected(/pax.* invalid/)],
  ['pax-no-newline', 'a record has no end', withRawPax('10 path=ab'), rejected(/pax.* invalid/)],
  ['pax-garbage', 'a pax header is random', withRawPax(Buffer.alloc(300, 0xaa)), rejected(/pax.* invalid/)],
  ['pax-nul', 'a path has a NUL', withPax({ path: 'kite/a\0b' }), rejected(/NUL/)],
  ['pax-up', 'a path climbs', withPax({ path: 'kite/../../x' }), rejected(/traversal/)],
  ['pax-empty-path', 'a path is empty', withPax({ path: '' }), rejected(/empty name/)],
  [
    'pax-large',
    'a pax header has more than a MiB',
    () => withPax({ comment: 'c'.repeat(1024 ** 2) }),
    rejected(/too long: \d+ bytes; the limit is 1048576/),
  ],
  [
    'pax-said-large',
    'a pax header is said to have 4 GiB',
    tarOf([{ name: 'pax', type: 'x', size: 4 * 1024 ** 3 }]),
    rejected(/too long/),
  ],
  [
    'pax-twice',
    'two pax headers are for one member',
    tarOf([paxHeader({ path: 'a' }), paxHeader({ path: 'b' }), one]),
    rejected(/belong to one member/),
  ],
  [
    'pax-for-nobody',
    'a pax header comes last',
    tarOf([one, paxHeader({ path: 'a' })]),
    rejected(/without its member/),
  ],
  [
    'sparse-pax',
    'a file is sparse by pax',
    withPax({ 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '9' }),
    rejected(/sparse/),
  ],
  [
    'sparse-gnu',
    'a file is sparse by its type',
    tarOf([one, { ...two, type: 'S', magic: 'ustar  \0' }]),
    rejected(/sparse/),
  ],
  ['long-name', 'GNU has a long name', tarOf([longName(`kite/${'n'.repeat(200)}`), one]), done],
  [
    'long-link',
    'GNU has a long link',
    tarOf([one, longName('t'.repeat(200), 'K'), { name: 'l', type: '2' }]),
    done,
  ],
  [
    'long-name-and-pax',
    'GNU and pax name one member',
    tarOf([longName('a'), paxHeader({ path: 'b' }), one]),
    done,
  ],
  [
    'long-name-twice',
    'two long names are for one member',
    tarOf([longName('a'), longName('b'), one]),
    rejected(/belong to one member/),
  ],
  [
    'long-name-empty',
    'a long name is empty',
    tarOf([{ name: 'L', type: 'L', data: '\0' }, one]),
    rejected(/empty name/),
  ],
  ['long-name-nul', 'a long name holds a NUL', tarOf([longName('kite/a\0b'), one]), rejected(/NUL/)],
  [
    'long-name-65k',
    'a long name has more than 64 KiB',
    () => tarOf([longName('n'.repeat(65_536)), one]),
    rejected(/too long/),
  ],
  [
    'long-name-for-nobody',
    'a long name comes last',
    tarOf([one, longName('a')]),
    rejected(/without its member/),
  ],
  [
    'long-name-cut',
    'a long name is truncated',
    tarOf([longName('n'.repeat(2000))]).subarray(0, 900),
    rejected(/truncated/),
  ],
]);

export const tarStructures: readonly ArchiveCase[] = [...cuts, ...sizes, ...pax];
