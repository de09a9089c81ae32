import { type EntryCase, entries, refused } from './corpus-case.ts';
import { ATOM_NS, documentOf, entryOf, entryWith } from './entry-text.ts';

const malformed = refused(400, /not well-formed/);
const noDoctype = refused(400, /DOCTYPE/);
const lol = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');

function withDoctype(doctype: string, content = ''): string {
  return documentOf(`${doctype}<entry xmlns="${ATOM_NS}"><title>${content}</title></entry>`);
}

const doctypes = entries([
  ['doctype', 'a document type and nothing in it', withDoctype('<!DOCTYPE entry>'), noDoctype],
  [
    'doctype-lower-case',
    'a document type in lower case is invalid',
    withDoctype('<!doctype entry>'),
    malformed,
  ],
  [
    'doctype-after-comment',
    'a document type follows a comment',
    withDoctype('<!-- x -->\n<!DOCTYPE entry []>'),
    noDoctype,
  ],
  [
    'doctype-after-root',
    'a document type comes last',
    `${entryOf('')}<!DOCTYPE entry>`,
    refused(400, /DOCTYPE|well-formed/),
  ],
  [
    'doctype-inside',
    'a document type stands inside',
    entryOf('<!DOCTYPE x>'),
    refused(400, /DOCTYPE|well-formed/),
  ],
  [
    'xxe-file',
    'an external entity reads a file',
    withDoctype('<!DOCTYPE entry [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '&x;'),
    noDoctype,
  ],
  [
    'xxe-network',
    'an external entity asks the network',
    withDoctype('<!DOCTYPE entry [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>', '&x;'),
    noDoctype,
  ],
  [
    'xxe-public',
    'an external entity has a public name',
    withDoctype('<!DOCTYPE entry PUBLIC "-//X//Y//EN" "http://127.0.0.1:9/d">'),
    noDoctype,
  ],
  [
    'xxe-parameter',
    'a parameter entity reads on',
    withDoctype('<!DOCTYPE entry [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]>'),
    noDoctype,
  ],
  [
    'laughs',
    'entities grow a billionfold',
    withDoctype(`<!DOCTYPE entry [<!ENTITY l0 "ha">${lol}]>`, '&l9;'),
    noDoctype,
  ],
  [
    'quadratic',
    'a long entity is used often',
    withDoctype(`<!DOCTYPE entry [<!ENTITY a "${'a'.repeat(50_000)}">]>`, '&a;'.repeat(50_000)),
    noDoctype,
  ],
  [
    'recursion',
    'entities name each other',
    withDoctype('<!DOCTYPE entry [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', '&a;'),
    noDoctype,
  ],
  [
    'default-attributes',
    'a document type adds attributes',
    withDoctype('<!DOCTYPE entry [<!ATTLIST title type CDATA "html">]>'),
    noDoctype,
  ],
  [
    'doctype-unended',
    'a document type has no end',
    documentOf('<!DOCTYPE entry [<!ENTITY a "'),
    refused(400, /DOCTYPE|well-formed/),
  ],
]);

const broken: readonly (readonly [name: string, what: string, text: string])[] = [
  ['no-element', 'there is no element', documentOf('')],
  ['only-comment', 'there is a comment', documentOf('<!-- nothing -->')],
  ['json', 'it is JSON', '{"title": "x"}'],
  ['plain-text', 'it is text', 'Title: x'],
  ['two-roots', 'there are two entries', entryOf('') + entryOf('').replace(/^<\?.*?\?>/, '')],
  ['text-after', 'text follows', `${entryOf('')} more`],
  ['text-before', 'text comes first', `more ${entryOf('').replace(/^<\?.*?\?>/, '')}`],
  ['declaration-late', 'the declaration is not at the beginning', ` ${entryOf('')}`],
  ['declaration-twice', 'there are two declarations', documentOf(entryOf(''))],
  ['unclosed', 'an element is not closed', entryOf('<title>x')],
  ['unclosed-tag', 'a tag is not closed', entryOf('').slice(0, -1)],
  ['cut', 'the entry is cut', entryOf('<title>x</title>').slice(0, -30)],
  ['crossed', 'elements cross', entryOf('<title><b>x</title></b>')],
  ['closed-by-nobody', 'a closing tag has no beginning', entryOf('</title>')],
  ['case-differs', 'the closing tag differs in case', entryOf('<title>x</Title>')],
  ['attribute-unquoted', 'a value has no quotes', entryOf('<title type=text>x</title>')],
  ['attribute-without-value', 'an attribute has no value', entryOf('<title type>x</title>')],
  ['attribute-twice', 'an attribute comes twice', entryOf('<title type="a" type="b">x</title>')],
  [
    'attribute-twice-by-prefix',
    'an attribute comes twice by another prefix',
    entryOf('<t xmlns:a="u:x" xmlns:b="u:x" a:k="1" b:k="2"/>'),
  ],
  ['attribute-with-less', 'a value holds a <', entryOf('<title type="<">x</title>')],
  ['prefix-unbound', 'a prefix is not bound', entryOf('<un:bound>x</un:bound>')],
  [
    'attribute-prefix-unbound',
    'the prefix of an attribute is not bound',
    entryOf('<title un:bound="x">x</title>'),
  ],
  ['prefix-unbound-again', 'a prefix is bound to nothing', entryOf('<p:x xmlns:p=""/>')],
  ['xml-prefix-bound', 'the prefix xml is bound to something else', entryOf('<x xmlns:xml="urn:x"/>')],
  ['xmlns-prefix-bound', 'the prefix xmlns is bound', entryOf('<x xmlns:xmlns="urn:x"/>')],
  ['two-colons', 'a name has two colons', entryOf('<a:b:c xmlns:a="u:x"/>')],
  ['ampersand', 'an ampersand stands alone', entryOf('<title>salt & pepper</title>')],
  ['entity-undefined', 'an entity of HTML is used', entryOf('<title>caf&eacute;</title>')],
  ['entity-unended', 'an entity has no end', entryOf('<title>&amp</title>')],
  [
    'entity-of-objects',
    'an entity is named like a property',
    entryOf('<title>&constructor;&__proto__;</title>'),
  ],
  ['reference-nul', 'a character reference is NUL', entryOf('<title>&#0;</title>')],
  ['reference-control', 'a character reference is a control character', entryOf('<title>&#x1B;</title>')],
  ['reference-surrogate', 'a character reference is half a character', entryOf('<title>&#xD800;</title>')],
  ['reference-surrogates', 'two references are two halves', entryOf('<title>&#xD83D;&#xDE00;</title>')],
  ['reference-too-large', 'a character reference is no character', entryOf('<title>&#x110000;</title>')],
  [
    'reference-endless',
    'a character reference has 5,000 digits',
    entryOf(`<title>&#${'9'.repeat(5000)};</title>`),
  ],
  ['reference-noncharacter', 'a character reference is U+FFFE', entryOf('<title>&#xFFFE;</title>')],
  ['nul', 'the text holds a NUL', entryOf('<title>a\0b</title>')],
  ['control', 'the text holds a control character', entryOf('<title>a\x07b</title>')],
  ['noncharacter', 'the text holds U+FFFF', entryOf('<title>a\uffffb</title>')],
  ['control-in-comment', 'a comment holds a control character', entryOf('<!-- \x01 -->')],
  ['comment-dashes', 'a comment holds two dashes', entryOf('<!-- a -- b -->')],
  ['comment-three-dashes', 'a comment ends with three dashes', entryOf('<!-- a --->')],
  ['comment-unended', 'a comment has no end', entryOf('<!-- a')],
  ['cdata-unended', 'a CDATA section has no end', entryOf('<title><![CDATA[x</title>')],
  ['cdata-end-in-text', 'text holds the end of a CDATA section', entryOf('<title>a ]]> b</title>')],
  ['cdata-outside', 'a CDATA section stands outside', `${entryOf('')}<![CDATA[x]]>`],
  ['instruction-xml', 'an instruction is named xml', entryOf('<?xml version="1.0"?>')],
  ['instruction-unended', 'an instruction has no end', entryOf('<?php echo 1;')],
  ['name-with-digit', 'a name begins with a digit', entryOf('<1st/>')],
  ['space-in-tag', 'a tag begins with white space', entryOf('< title>x</title>')],
  ['version-of-text', 'the version is invalid', entryOf('').replace('version="1.0"', 'version="one"')],
  ['many-comments', '50,000 comments begin', entryOf('<!--'.repeat(50_000))],
  ['many-less', '200,000 tags begin', entryOf('<'.repeat(200_000))],
];

export const malformedEntries: readonly EntryCase[] = [
  ...doctypes,
  ...entries(
    broken.map(([name, what, text]) => [
      name,
      what,
      text,
      refused(400, /^Line \d+ of the entry |no element|encoding/),
    ]),
  ),
  ...entries([
    ['entry-empty', 'there is no byte', '', refused(400, /empty/)],
    ['entry-blank', 'there is white space', ' \n\t ', refused(400, /empty/)],
  ]),
  ...entries([
    ['root-feed', 'the root is a feed', entryWith('feed', ATOM_NS), refused(400, /must be an entry/)],
    [
      'root-upper-case',
      'the root is an Entry',
      entryWith('Entry', ATOM_NS),
      refused(400, /must be an entry/),
    ],
    ['root-nowhere', 'the root is in no namespace', entryWith('entry', ''), refused(400, /no namespace/)],
    [
      'root-elsewhere',
      'the root is in the namespace of Atom 0.3',
      entryWith('entry', 'http://purl.org/atom/ns#'),
      refused(400, /purl.org/),
    ],
    [
      'root-almost',
      'the namespace has a slash too many',
      entryWith('entry', `${ATOM_NS}/`),
      refused(400, /must be an entry/),
    ],
    [
      'root-html',
      'the root is html',
      entryWith('html', 'http://www.w3.org/1999/xhtml'),
      refused(400, /html/),
    ],
    [
      'root-of-markup',
      'the namespace holds markup',
      entryWith('entry', '&lt;script&gt;]]&gt;'),
      refused(400, /script/),
    ],
  ]),
];
