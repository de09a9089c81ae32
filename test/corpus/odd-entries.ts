import { done, type EntryCase, entries, refused, rejected } from './corpus-case.ts';
import { ATOM_NS, complete, documentOf, entryOf, utf16 } from './entry-text.ts';

const CODEMETA = 'https://doi.org/10.5063/SCHEMA/CODEMETA-2.0';
const declared = (encoding: string) => entryOf('<summary>ombre portée</summary>', encoding);
const wrongByte = refused(400, /wrong in its encoding/);

/** Returns the text with a byte that is invalid in its encoding. */
function withBytes(text: string, ...bytes: readonly number[]): Buffer {
  const [before = '', after = ''] = entryOf(`<summary>${text}</summary>`).split('@');
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}

const encodings = entries([
  ['utf8', 'UTF-8', entryOf('<summary>Schatten – ombre – 影 – 😀</summary>'), done],
  ['utf8-mark', 'UTF-8 with its mark', `\ufeff${entryOf('')}`, done],
  ['utf8-two-marks', 'UTF-8 with two marks', `\ufeff\ufeff${entryOf('')}`, refused(400, /well-formed/)],
  ['no-declaration', 'no declaration', entryOf('').replace(/^<\?.*?\?>/, ''), done],
  ['utf16-le', 'UTF-16 with its mark, little-endian', utf16(entryOf('', 'utf-16'), 'le'), done],
  ['utf16-be', 'UTF-16 with its mark, big-endian', utf16(entryOf('', 'utf-16'), 'be'), done],
  [
    'utf16-without-mark',
    'UTF-16 without its mark',
    utf16(entryOf('', 'utf-16'), 'le', { mark: false }),
    done,
  ],
  [
    'utf16-be-without-mark',
    'UTF-16 without its mark, big-endian',
    utf16(entryOf('', 'UTF-16'), 'be', { mark: false }),
    done,
  ],
  [
    'utf16-odd',
    'UTF-16 of an odd number of bytes',
    utf16(entryOf(''), 'le').subarray(0, -1),
    refused(400, /encoding|well-formed/),
  ],
  [
    'utf16-half',
    'UTF-16 with half a character',
    utf16(entryOf('<summary>\ud800x</summary>'), 'le'),
    wrongByte,
  ],
  [
    'utf16-said',
    'UTF-16 is declared and is not',
    entryOf('', 'utf-16'),
    refused(400, /declares the encoding/),
  ],
  [
    'utf32',
    'UTF-32',
    Buffer.from([...Buffer.from(entryOf(''))].flatMap((byte) => [0, 0, 0, byte])),
    refused(400, /well-formed|encoding|no element/),
  ],
  ['latin1', 'ISO-8859-1, declared', Buffer.from(declared('ISO-8859-1'), 'latin1'), done],
  ['latin1-undeclared', 'ISO-8859-1, not declared', Buffer.from(declared('utf-8'), 'latin1'), wrongByte],
  ['windows-1251', 'windows-1251, declared', Buffer.from(declared('windows-1251'), 'latin1'), done],
  ['ascii-said', 'more than ASCII where ASCII is declared', declared('us-ascii'), wrongByte],
  [
    'shift-jis',
    'a wrong byte of Shift_JIS',
    Buffer.from(declared('shift_jis').replace('é', '\xfd'), 'latin1'),
    wrongByte,
  ],
  ['utf7', 'an encoding that is not known', declared('UTF-7'), refused(400, /not supported/)],
  ['ebcdic', 'EBCDIC is declared', declared('ibm037'), refused(400, /not supported/)],
  [
    'encoding-of-markup',
    'the encoding is text',
    declared('x&lt;y'),
    refused(400, /not supported|well-formed/),
  ],
  [
    'charset',
    'the charset of the request says more than the declaration',
    Buffer.from(declared('utf-8'), 'latin1'),
    done,
    'iso-8859-1',
  ],
  [
    'charset-wrong',
    'the charset of the request is wrong, the declaration right',
    Buffer.from(declared('iso-8859-1'), 'latin1'),
    done,
    'utf-8',
  ],
  [
    'charset-and-declaration-wrong',
    'both charset and declaration are wrong',
    Buffer.from(declared('utf-8'), 'latin1'),
    wrongByte,
    'utf-8',
  ],
  [
    'charset-unknown',
    'the charset of the request is not known',
    entryOf(''),
    refused(400, /not supported/),
    'x-user-undefined',
  ],
  ['overlong', 'an overlong slash', withBytes('@', 0xc0, 0xaf), wrongByte],
  ['overlong-less', 'an overlong <', withBytes('@script>', 0xe0, 0x80, 0xbc), wrongByte],
  ['surrogate', 'an encoded surrogate', withBytes('@', 0xed, 0xa0, 0x80), wrongByte],
  ['past-unicode', 'a character past the last', withBytes('@', 0xf4, 0x90, 0x80, 0x80), wrongByte],
  ['cut-character', 'a cut character', withBytes('@', 0xe2, 0x82), wrongByte],
  ['lone-continuation', 'a byte that continues nothing', withBytes('@', 0x80), wrongByte],
]);

const limits = entries([
  ['depth-50', '50 levels', entryOf('<a>'.repeat(49) + '</a>'.repeat(49)), done],
  ['depth-51', '51 levels', entryOf('<a>'.repeat(50) + '</a>'.repeat(50)), refused(400, /deeper than 50/)],
  ['depth-100000', '100,000 levels', entryOf('<a>'.repeat(100_000)), refused(400, /deeper than 50/)],
  ['elements-59000', '59,000 elements', entryOf('<a/>'.repeat(59_000)), done],
  [
    'elements-60001',
    'more than 60,000 elements',
    entryOf('<a/>'.repeat(60_001)),
    refused(400, /more than 60000 elements/),
  ],
  ['attributes-100', '100 attributes', entryOf(`<a ${attributes(100)}/>`), done],
  [
    'attributes-101',
    '101 attributes',
    entryOf(`<a ${attributes(101)}/>`),
    refused(400, /more than 100 attributes/),
  ],
  [
    'attributes-30000',
    '30,000 attributes',
    entryOf(`<a ${attributes(30_000)}/>`),
    refused(400, /more than 100 attributes/),
  ],
  [
    'namespaces-101',
    '101 namespaces',
    entryOf(`<a ${attributes(101, 'xmlns:')}/>`),
    refused(400, /more than 100 attributes/),
  ],
  ['attribute-64k', 'an attribute of 64 kB', entryOf(`<a b="${'x'.repeat(65_536)}"/>`), done],
  [
    'attribute-large',
    'an attribute of more than 64 kB',
    entryOf(`<a b="${'x'.repeat(65_537)}"/>`),
    refused(400, /longer than 65536/),
  ],
  ['name-large', 'a name of 200 kB', entryOf(`<${'n'.repeat(200_000)}/>`), done],
  ['text-large', 'a text of 900 kB', entryOf(`<summary>${'long '.repeat(180_000)}</summary>`), done],
  [
    'title-large',
    'a title of 500 kB',
    documentOf(
      `<entry xmlns="${ATOM_NS}" xmlns:codemeta="${CODEMETA}"><title>${'t'.repeat(500_000)}</title>${complete}</entry>`,
    ),
    done,
  ],
  ['authors-10000', '10,000 authors', entryOf('<author><name>A</name></author>'.repeat(10_000)), done],
  [
    'urls-10000',
    '10,000 urls',
    entryOf('<codemeta:url>https://a.corpus.example/</codemeta:url>'.repeat(10_000)),
    done,
  ],
  [
    'references-100000',
    '100,000 character references',
    entryOf(`<summary>${'&#65;'.repeat(100_000)}</summary>`),
    done,
  ],
  [
    'megabyte',
    'more than a MiB',
    entryOf(`<summary>${'x'.repeat(1024 ** 2)}</summary>`),
    refused(413, /1048576|limit/),
  ],
]);

function attributes(count: number, prefix = ''): string {
  return Array.from({ length: count }, (_, index) => `${prefix}k${index}="v"`).join(' ');
}

const fine = entries([
  ['complete', 'nothing odd', entryOf(''), done],
  ['cdata', 'CDATA sections', entryOf('<summary><![CDATA[<b>&amp;</b>]]>]]&gt;<![CDATA[]]></summary>'), done],
  [
    'comments',
    'comments everywhere',
    documentOf(
      `<!-- a --><entry xmlns="${ATOM_NS}" xmlns:codemeta="${CODEMETA}"><!-- <b> -->${complete}</entry><!-- c -->`,
    ),
    done,
  ],
  [
    'instructions',
    'processing instructions',
    entryOf('<?php echo "<x>"; ?><?xml-stylesheet href="http://127.0.0.1:9/"?>'),
    done,
  ],
  [
    'base-and-language',
    'xml:base, xml:lang and xml:space',
    entryOf('<summary xml:base="http://127.0.0.1:9/" xml:lang="fr" xml:space="preserve"> x </summary>'),
    done,
  ],
  [
    'schema-location',
    'a schema is named',
    entryOf(
      '<x xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="u http://127.0.0.1:9/"/>',
    ),
    done,
  ],
  [
    'inclusion',
    'XInclude is not done',
    entryOf('<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'),
    done,
  ],
  [
    'names-of-properties',
    'names mean something to programs',
    entryOf('<__proto__ polluted="1"><x/></__proto__><constructor/><toString __proto__="1"/>'),
    done,
  ],
  [
    'prefixes-swapped',
    'Atom has a prefix and CodeMeta none',
    documentOf(
      `<a:entry xmlns:a="${ATOM_NS}" xmlns="${CODEMETA}"><a:title>x</a:title><author><name>A</name></author><url>https://corpus.example</url></a:entry>`,
    ),
    done,
  ],
  [
    'references',
    'references of each kind',
    entryOf('<summary>&lt;&gt;&amp;&quot;&apos;&#233;&#xE9;&#x1F600;</summary>'),
    done,
  ],
  ['line-ends', 'line ends of all systems', entryOf('\r\n<summary>a\rb\r\nc\u0085d\u2028e</summary>'), done],
  ['version-1.1', 'the version is 1.1', entryOf('').replace('1.0', '1.1'), done],
  ['standalone', 'the entry stands alone', entryOf('').replace('?>', ' standalone="yes"?>'), done],
  [
    'markup-as-text',
    'the title is markup',
    entryOf('<title>&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;</title>'),
    done,
  ],
  [
    'wrong-namespace',
    'the fields are in another namespace',
    documentOf(
      `<entry xmlns="${ATOM_NS}" xmlns:c="urn:other"><c:title>x</c:title><c:author>A</c:author></entry>`,
    ),
    rejected(/missing/i),
  ],
  ['no-title', 'there is no title', entryOf('').replace(/<title>.*<\/title>/, ''), rejected(/title|name/)],
  ['blank-title', 'the title is blank', entryOf('').replace('Sundial', ' \n&#160;'), rejected(/title|name/)],
  ['no-author', 'there is no author', entryOf('').replace(/<author>.*<\/author>/, ''), rejected(/author/)],
  ...[
    'https://corpus.example.evil.example/',
    'https://evil.example/corpus.example',
    'https://evil.example\\@corpus.example/',
    'https://corpus.example@evil.example/',
    'https://evilcorpus.example/',
    'javascript:alert(1)//corpus.example/',
    '//corpus.example/x',
    '/corpus.example',
    'corpus.example',
    'https://corpus\u3002evil.example/',
  ].map(
    (url, index) =>
      [
        `url-${index}`,
        `the only url is ${url}`,
        entryOf('').replace('https://corpus.example/sundial', url),
        rejected(/url field/),
      ] as const,
  ),
]);

export const oddEntries: readonly EntryCase[] = [...encodings, ...limits, ...fine];
