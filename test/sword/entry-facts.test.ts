import test from 'ava';
import { DepositRefusal } from '../../src/domain/deposit/errors.ts';
import { assertLengths } from '../../src/domain/deposit/limits.ts';
import { runCooperatively } from '../../src/sword/entry/cooperative.ts';
import { dublinCoreTerms } from '../../src/sword/entry/dublin-core-terms.ts';
import { type EntryFacts, entryFacts as findingFacts } from '../../src/sword/entry/entry-facts.ts';
import { SwordError } from '../../src/sword/sword-error.ts';
import { entryFacts, readEntry } from '../../testing/documents/read-entry.ts';

const NAMESPACE = 'https://deposit.example/schema';
const NAMESPACES = `xmlns="http://www.w3.org/2005/Atom" xmlns:c="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0"
  xmlns:c3="https://w3id.org/codemeta/3.0" xmlns:dct="http://purl.org/dc/terms/" xmlns:d="${NAMESPACE}" xmlns:x="urn:x"`;

function factsOf(inside: string, domain: string | null = null): EntryFacts {
  return entryFacts(readEntry(Buffer.from(`<entry ${NAMESPACES}>${inside}</entry>`)), NAMESPACE, domain);
}

test('an empty entry has no facts', (t) => {
  t.deepEqual(factsOf(''), {
    title: null,
    hasTitle: false,
    hasAuthor: false,
    authors: [],
    urlHosts: [],
    hasUrlField: false,
    urlHostsTruncated: false,
    origin: null,
    externalIdentifier: null,
    version: null,
    dateCreated: null,
    datePublished: null,
    id: null,
    updated: null,
    provenance: null,
  });
});

test('the facts of a full entry are those that checks and views need', (t) => {
  const facts = factsOf(`
    <id> urn:uuid:1 </id><updated>2020-01-02T03:04:05Z</updated>
    <title type="text"> Orbitals
      of  atoms </title>
    <author><name>Alice</name><email>alice@a.example</email></author>
    <c:author><c:name> Bob  B. </c:name></c:author><c3:author><c3:givenName>Eve</c3:givenName><c3:familyName>E.</c3:familyName></c3:author>
    <c:url>https://Code.Alice.example:8443/orbitals</c:url>
    <external_identifier>hal-01</external_identifier>
    <c:softwareVersion>1.0</c:softwareVersion><c:dateCreated> 2019-12 </c:dateCreated><c:datePublished>2020</c:datePublished>
    <d:deposit><d:create_origin><d:origin url="https://alice.example/orbitals"/></d:create_origin></d:deposit>`);
  t.deepEqual(facts, {
    title: 'Orbitals of atoms',
    hasTitle: true,
    hasAuthor: true,
    authors: ['Alice', 'Bob B.', 'Eve E.'],
    urlHosts: ['code.alice.example'],
    hasUrlField: true,
    urlHostsTruncated: false,
    origin: { relation: 'create', url: 'https://alice.example/orbitals' },
    externalIdentifier: 'hal-01',
    version: '1.0',
    dateCreated: '2019-12',
    datePublished: '2020',
    id: 'urn:uuid:1',
    updated: '2020-01-02T03:04:05Z',
    provenance: null,
  });
});

test('the title is the first of atom:title, codemeta:name and dcterms:title that has text', (t) => {
  const cases = [
    ['<dct:title>D</dct:title><c:name>C</c:name><title>A</title>', 'A', true],
    ['<dct:title>D</dct:title><c3:name>C</c3:name><title> </title>', 'C', true],
    ['<title/><title>second</title>', 'second', true],
    ['<dct:title>D</dct:title>', 'D', false],
    ['<name>N</name>', 'N', true],
    [
      '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">An <b>X</b>!</div></title>',
      'An X!',
      true,
    ],
    ['<title> \n\t</title><c:name>&#160;</c:name>', null, false],
    ['<x:title>X</x:title><x:name>X</x:name>', null, false],
    ['<source><title>elsewhere</title></source>', null, false],
  ] as const;
  for (const [inside, title, hasTitle] of cases) {
    const facts = factsOf(inside);
    t.is(facts.title, title, inside);
    t.is(facts.hasTitle, hasTitle, inside);
  }
});

test('an author without text is ignored', (t) => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['<author><name>Alice</name></author>', ['Alice']],
    ['<c:author>Alice</c:author>', ['Alice']],
    ['<author><email>a@a.example</email></author>', ['a@a.example']],
    ['<author/><author><name> </name></author><c3:author>\n</c3:author>', []],
    ['<x:author><x:name>Alice</x:name></x:author>', []],
    ['<contributor><name>Alice</name></contributor>', []],
  ];
  for (const [inside, authors] of cases) {
    const facts = factsOf(inside);
    t.deepEqual(facts.authors, authors, inside);
    t.is(facts.hasAuthor, authors.length > 0, inside);
  }
});

test('hosts come from all url fields, at any depth and in any namespace', (t) => {
  const facts = factsOf(`
    <c:url>HTTPS://ALICE.example/a</c:url><x:codeURL>http://b.alice.example</x:codeURL>
    <x:deep><x:er><c3:downloadUrl> https://alice.example/b </c3:downloadUrl></x:er></x:deep>
    <x:urls><x:url>https://c.example</x:url><x:url>https://bücher.example</x:url></x:urls>
    <x:link>https://not.example</x:link>`);
  t.deepEqual(facts.urlHosts, ['alice.example', 'b.alice.example', 'c.example', 'xn--bcher-kva.example']);
  t.true(facts.hasUrlField);
});

test('texts that only resemble the URL of a host name none', (t) => {
  const tricks = [
    'javascript:alert(1)//alice.example/',
    '/alice.example',
    '//alice.example/',
    'alice.example',
    'https:alice.example',
    'ftp://alice.example/',
    'https://evil.example\\@alice.example/',
    'https://alice.example@evil.example/',
    'https://user:secret@alice.example/',
    'https://alice.example /',
    'https://ali\nce.example/',
    'https://',
    'https://a b',
    'https://[alice.example]/',
    '',
  ];
  for (const trick of tricks) {
    const facts = factsOf(`<c:url>${trick}</c:url>`);
    t.deepEqual(facts.urlHosts, [], trick);
    t.true(facts.hasUrlField);
  }
});

test('hosts are parsed in any script, and an invalid one in linear time', (t) => {
  const letters = (count: number) =>
    String.fromCharCode(...Array.from({ length: count }, (_, letter) => 0x4e00 + letter));
  const hostsOf = (...hosts: string[]) =>
    factsOf(hosts.map((host) => `<c:url>https://${host}/</c:url>`).join('')).urlHosts;
  t.deepEqual(
    hostsOf('例え.example:8443', 'b%C3%BCcher.example', '/c.example', `${'a'.repeat(200)}.example`),
    ['xn--r8jz45g.example', 'xn--bcher-kva.example', 'c.example', `${'a'.repeat(200)}.example`],
  );
  const long = letters(5000);
  t.deepEqual(hostsOf(...Array.from({ length: 1000 }, () => long)), []);
  const escaped = encodeURIComponent(letters(1800)); // as many as a URL may have
  t.deepEqual(hostsOf(...Array.from({ length: 1000 }, () => escaped)), []);
});

test('a text longer than any URL is not a URL', (t) => {
  const longest = `https://alice.example/${'x'.repeat(16_384 - 22)}`;
  t.deepEqual(factsOf(`<c:url>${longest}</c:url>`).urlHosts, ['alice.example']);
  const { urlHosts, fieldFaults } = factsOf(`<c:url>${longest}x</c:url>`);
  t.deepEqual([urlHosts, fieldFaults?.map(({ kind }) => kind)], [[], ['url']]);
});

test('the facts of a long entry are extracted cooperatively, and are the same', async (t) => {
  const inside = Array.from({ length: 10_000 }, (_, index) => `<c:url>https://ä${index}.example/</c:url>`);
  const document = readEntry(Buffer.from(`<entry ${NAMESPACES}>${inside.join('')}</entry>`));
  let turns = 0;
  const others = setInterval(() => (turns += 1));
  const found = await runCooperatively(findingFacts(document, NAMESPACE, 'example'));
  clearInterval(others);
  t.true(turns > 1, `${turns} turns`);
  t.deepEqual(found, entryFacts(document, NAMESPACE, 'example'));
});

test('the origin is created or added to, inside a deposit element or without', (t) => {
  const url = 'https://alice.example/o?a=1&amp;b';
  const origin = (name: string) => `<d:${name}><d:origin url=" ${url} "/></d:${name}>`;
  const expected = { relation: 'add', url: 'https://alice.example/o?a=1&b' };
  t.deepEqual(factsOf(origin('add_to_origin')).origin, expected as EntryFacts['origin']);
  t.deepEqual(
    factsOf(`<d:deposit>${origin('add_to_origin')}</d:deposit>`).origin,
    expected as EntryFacts['origin'],
  );
  t.is(factsOf(origin('create_origin') + origin('create_origin')).origin?.relation, 'create');
  t.is(factsOf(`<create_origin><origin url="${url}"/></create_origin>`).origin, null);
  t.is(factsOf(`<x:wrap>${origin('create_origin')}</x:wrap>`).origin, null);
});

test('an entry with an ambiguous origin is refused', (t) => {
  const origin = (name: string, url: string) => `<d:${name}><d:origin url="${url}"/></d:${name}>`;
  const unclear = [
    origin('create_origin', 'https://a.example/') + origin('add_to_origin', 'https://a.example/'),
    origin('create_origin', 'https://a.example/') + origin('create_origin', 'https://b.example/'),
    '<d:create_origin><d:origin url="https://a.example/"/><d:origin url="https://b.example/"/></d:create_origin>',
    origin('create_origin', ''),
    '<d:create_origin><d:origin/></d:create_origin>',
    '<d:add_to_origin/>',
  ];
  for (const inside of unclear) {
    const error = t.throws(() => factsOf(inside), { instanceOf: SwordError }, inside);
    t.is(error.code, 'ErrorBadRequest');
  }
});

test('white space is collapsed in values of any length, which are stored up to their limit', (t) => {
  const words = (count: number) => Array.from({ length: count }, (_, word) => `w${word}`);
  const blanks = ' \n\t\u00a0';
  for (const count of [1, 2, 130, 1000, 100_000]) {
    const { title, authors } = factsOf(
      `<title>${blanks}${words(count).join(blanks)}${blanks}</title><author>${words(count).join('\n')}</author>`,
    );
    t.is(title, words(count).slice(0, 1000).join(' ').slice(0, 500));
    t.deepEqual(authors, [words(count).slice(0, 1000).join(' ').slice(0, 200)]);
  }
  t.is(factsOf(`<title>${blanks}</title>`).title, null);
});

test('single values are truncated, never within a character', (t) => {
  const facts = factsOf(`
    <title>${'t'.repeat(499)}\u{1f600}</title><c:version>${'v'.repeat(70)}</c:version>
    <c:dateCreated>${'9'.repeat(70)}</c:dateCreated><c:author><c:name>${'n'.repeat(300)}</c:name></c:author>`);
  t.is(facts.title, 't'.repeat(499));
  t.is(facts.version?.length, 64);
  t.is(facts.dateCreated?.length, 64);
  t.deepEqual(facts.authors, ['n'.repeat(200)]);
});

test('up to twenty authors are stored', (t) => {
  const authors = Array.from({ length: 30 }, (_, i) => `<author><name>Author ${i}</name></author>`).join('');
  t.deepEqual(
    factsOf(authors).authors,
    Array.from({ length: 20 }, (_, i) => `Author ${i}`),
  );
});

test('a truncated list of hosts differs from a complete one', (t) => {
  const urls = (count: number) =>
    Array.from({ length: count }, (_, i) => `<c:url>https://host-${i}.example/</c:url>`).join('');
  const some = factsOf(urls(100));
  t.is(some.urlHosts.length, 100);
  t.false(some.urlHostsTruncated);
  const many = factsOf(urls(2_000));
  t.true(many.urlHostsTruncated);
  t.true(Buffer.byteLength(JSON.stringify(many.urlHosts)) <= 3_000);
  t.true(many.urlHosts.length > 100);
  const own = '<c:url>https://code.alice.example/</c:url>';
  t.false(factsOf(urls(2_000) + own).urlHosts.includes('code.alice.example'));
  const ofAlice = factsOf(urls(2_000) + own, 'alice.example');
  t.true(ofAlice.urlHosts.includes('code.alice.example'), 'the effective one is stored');
  t.true(Buffer.byteLength(JSON.stringify(ofAlice.urlHosts)) <= 3_000);
});

test('an external identifier is stored whole, or refused if it is longer than a Slug may be', (t) => {
  const identifierOf = (text: string) => {
    const facts = factsOf(`<external_identifier>${text}</external_identifier>`);
    assertLengths(facts);
    return facts.externalIdentifier;
  };
  for (const character of ['x', '漢', '\u{1f600}']) {
    const longest = character.repeat(255);
    t.is(identifierOf(` ${longest} `), longest);
    for (const text of [`${longest}x`, `${longest} x`, `x ${'x '.repeat(1_000)}`]) {
      const error = t.throws(() => identifierOf(text), { instanceOf: DepositRefusal });
      t.is(error.code, 'VALUE_TOO_LONG');
    }
  }
});

test('the facts stay below 7.5 kB for any entry', (t) => {
  const url = `https://a.example/${'y'.repeat(1_006)}`;
  const subjects = [
    `<d:create_origin><d:origin url="${url}"/></d:create_origin>`,
    `<d:reference><d:object swhid="${'s'.repeat(2_048)}"/></d:reference>`,
  ];
  const provenance = `<d:metadata-provenance><s:url xmlns:s="http://schema.org/">https://h7.example/${'z'.repeat(493)}</s:url></d:metadata-provenance>`;
  const faults = Array.from({ length: 100 }, (_, i) => `<c:author>${'漢'.repeat(60)}${i}</c:author>`).join(
    '',
  );
  for (const character of ['x', '漢', '&quot;', '\u{1f600}', '\\']) {
    const text = character.repeat(600);
    const single = ['title', 'c:version', 'c:dateCreated', 'c:datePublished', 'id', 'updated']
      .map((name) => `<${name}>${text}</${name}>`)
      .join('');
    const authors = `<author><name>${text}</name></author>`.repeat(30);
    const urls = Array.from({ length: 500 }, (_, i) => `<c:url>https://h${i}.example</c:url>`).join('');
    const identifier = `<external_identifier>${character.repeat(255)}</external_identifier>`;
    for (const subject of subjects) {
      const inside = single + identifier + authors + urls + provenance + subject + faults;
      const facts = factsOf(inside, 'h7.example');
      t.true(Buffer.byteLength(JSON.stringify(facts)) <= 7_500, character);
      t.true(facts.hasAuthor);
      t.true(facts.urlHosts.includes('h7.example'));
      t.true(facts.urlHostsTruncated || facts.urlHosts.length === 500);
      t.true(facts.title?.isWellFormed() && facts.title.length > 300);
      t.deepEqual(JSON.parse(JSON.stringify(facts)), facts);
    }
  }
});

test('Dublin Core terms are stored in order up to the size limit', (t) => {
  const termsOf = (inside: string) =>
    dublinCoreTerms(
      readEntry(
        Buffer.from(
          `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:t="http://purl.org/dc/terms/">${inside}</entry>`,
        ),
      ),
    );
  const numbered = Array.from({ length: 101 }, (_, index) => `<t:subject>${index}</t:subject>`).join('');
  t.deepEqual(
    termsOf(`<t:title> T </t:title><t:title/><t:x-y>z</t:x-y><title>Atom</title>${numbered}`).map(
      ({ value }) => value,
    ),
    ['T', ...Array.from({ length: 99 }, (_, index) => String(index))],
  );
  t.deepEqual(termsOf('<t:title xml:lang="fr">T</t:title><t:title xml:lang="a b">T</t:title>'), [
    { name: 'title', value: 'T', lang: 'fr' },
    { name: 'title', value: 'T' },
  ]);
  const long = `<t:abstract>${'x'.repeat(16_384)}</t:abstract>`;
  t.is(termsOf(`${long}<t:title>T</t:title>`).length, 1);
  t.is(termsOf(`<t:title>T</t:title>${long}`).length, 1);
});
