import test from 'ava';
import { DepositRefusal } from '../../src/domain/deposit/errors.ts';
import { assertLengths } from '../../src/domain/deposit/limits.ts';
import type { EntryFacts } from '../../src/sword/entry/entry-facts.ts';
import { nearestTerm, VOCABULARIES } from '../../src/sword/entry/metadata-terms.ts';
import { ATOM, CODEMETA } from '../../src/sword/namespaces.ts';
import { SwordError } from '../../src/sword/sword-error.ts';
import { entryFacts, readEntry } from '../../testing/documents/read-entry.ts';

const NAMESPACE = 'https://deposit.example/schema';
const NAMESPACES = `xmlns="http://www.w3.org/2005/Atom" xmlns:c="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0"
  xmlns:c3="https://w3id.org/codemeta/3.0" xmlns:d="${NAMESPACE}" xmlns:s="http://schema.org/" xmlns:x="urn:x"`;

function factsOf(inside: string): EntryFacts {
  return entryFacts(readEntry(Buffer.from(`<entry ${NAMESPACES}>${inside}</entry>`)), NAMESPACE, null);
}

function faultsOf(inside: string): string[] {
  return (factsOf(inside).fieldFaults ?? []).map(
    ({ kind, field, value, hint }) => `${kind} ${field} "${value}"${hint === null ? '' : ` → ${hint}`}`,
  );
}

test('an entry valid for Software Heritage has no rejecting fault', (t) => {
  const full = `<uri>u</uri><name>foo</name><author>someone</author>
    <c:author><c:name>The Author</c:name><c:name>an alias</c:name><c:id>http://example.org/~theauthor/</c:id><c:email>a@example.org</c:email>
      <c:affiliation><c:name>University 1</c:name></c:affiliation><c:identifier>https://orcid.org/0000-0002-9227-8514</c:identifier></c:author>
    <c:contributor><c:name>C</c:name><c:affiliation>University 2</c:affiliation></c:contributor>
    <c:maintainer><c:name>M</c:name></c:maintainer><c:copyrightHolder><c:name>U</c:name></c:copyrightHolder>
    <c:applicationCategory>something</c:applicationCategory><c:installUrl>http://example.org/</c:installUrl>
    <c:releaseNotes>Blah blah</c:releaseNotes><c:softwareVersion>1.0.0</c:softwareVersion><c:keywords>kw1</c:keywords>
    <c:license><c:name>GPL</c:name><c:url>https://www.gnu.org/licenses/gpl.html</c:url></c:license>
    <c:datePublished>2020-12-21T12:00:00</c:datePublished><c:dateCreated>2020-12</c:dateCreated><c:dateModified>2020-12-25+01:00</c:dateModified>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">An <b>X</b>!</div></content>`;
  t.deepEqual(faultsOf(full), []);
});

test('dates, persons and affiliations are validated', (t) => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['<c:dateModified>2020-12-aa</c:dateModified>', ['date codemeta:dateModified "2020-12-aa"']],
    ['<c:dateCreated/>', ['date codemeta:dateCreated ""']],
    ['<c3:embargoEndDate>x</c3:embargoEndDate>', ['date codemeta:embargoEndDate "x"']],
    ['<c:contributor><s:x>abc</s:x></c:contributor>', ['nameless codemeta:contributor "abc"']],
    ['<c:author><c:name> </c:name></c:author>', ['nameless codemeta:author ""']],
    ['<c:author>Ada</c:author>', ['person-without-name codemeta:author "Ada"']],
    [
      '<c:author><c:givenName>Ada</c:givenName><c:familyName>L.</c:familyName></c:author>',
      ['person-without-name codemeta:author "Ada L."'],
    ],
    ['<c3:author><c3:givenName>Ada</c3:givenName></c3:author>', []],
    [
      '<c:author><c:name>A</c:name><c:affiliation> </c:affiliation></c:author>',
      ['affiliation codemeta:author ""'],
    ],
    [
      '<c:author><c:name>A</c:name><c:affiliation><c:url>https://a.example</c:url></c:affiliation></c:author>',
      ['affiliation codemeta:author "https://a.example"'],
    ],
  ];
  for (const [inside, faults] of cases) t.deepEqual(faultsOf(inside), faults, inside);
});

test('where CodeMeta requires a URL, it must be absolute', (t) => {
  for (const text of [
    'MIT',
    '/paint',
    'alice.example/paint',
    'https:/a',
    'https://a b',
    'https://a\\b',
    '',
  ]) {
    t.deepEqual(faultsOf(`<c:license>${text}</c:license>`), [`url codemeta:license "${text}"`]);
  }
  t.deepEqual(faultsOf('<c:codeRepository>git+ssh://alice.example/paint.git</c:codeRepository>'), []);
  t.deepEqual(faultsOf('<c:author><c:name>A</c:name><c:url>home</c:url></c:author>'), [
    'url codemeta:url "home"',
  ]);
});

test('an unknown term is named with the probable one', (t) => {
  t.deepEqual(faultsOf('<c:licence>https://a.example/</c:licence>'), [
    'term codemeta:licence "licence" → license',
  ]);
  t.deepEqual(faultsOf('<c:codeRepositry/>'), [
    'term codemeta:codeRepositry "codeRepositry" → codeRepository',
  ]);
  t.deepEqual(faultsOf('<c:continuousIntegration>https://a.example</c:continuousIntegration>'), [
    'term codemeta:continuousIntegration "continuousIntegration" → codemeta:continuousIntegration',
  ]);
  t.deepEqual(faultsOf('<url>https://a.example</url>'), ['term atom:url "url" → codemeta:url']);
  t.deepEqual(faultsOf('<c:title>T</c:title>'), ['term codemeta:title "title" → atom:title']);
  t.deepEqual(
    faultsOf('<c:xyzzyplugh/><c3:continuousIntegration>https://a.example</c3:continuousIntegration>'),
    ['term codemeta:xyzzyplugh "xyzzyplugh"'],
  );
  t.deepEqual(faultsOf('<x:anything/><s:anything/>'), [], 'other vocabularies are not validated');
});

test('every term is nearest to itself, and an unrelated one to none', (t) => {
  for (const vocabulary of VOCABULARIES.values()) {
    for (const term of vocabulary.terms) {
      t.is(nearestTerm(term, vocabulary)?.toLowerCase(), term.toLowerCase());
    }
    t.is(nearestTerm('x'.repeat(100_000), vocabulary), null);
  }
  t.deepEqual([...VOCABULARIES.keys()], [ATOM, ...CODEMETA]);
});

test('faults are reported once, rejecting ones first, up to the limit', (t) => {
  const many = Array.from({ length: 300 }, (_, i) => `<c:term${i}>漢</c:term${i}>`).join('');
  const facts = factsOf(`${many}<c:dateCreated>soon</c:dateCreated><c:dateCreated>soon</c:dateCreated>`);
  t.like(facts.fieldFaults?.[0], { kind: 'date', value: 'soon' });
  t.is(facts.fieldFaults?.filter(({ kind }) => kind === 'date').length, 1);
  t.true(Buffer.byteLength(JSON.stringify(facts.fieldFaults)) < 1_300);
  t.true((facts.fieldFaultsLeftOut ?? 0) > 100);
  const plain = Array.from({ length: 300 }, (_, i) => `<c:author>Author ${i}</c:author>`).join('');
  const late = faultsOf(`${plain}<c:contributor/><c:dateModified>soon</c:dateModified>`);
  t.deepEqual(late.slice(0, 2), ['date codemeta:dateModified "soon"', 'nameless codemeta:contributor ""']);
});

test('provenance is a URL of schema.org inside metadata-provenance', (t) => {
  const url = '<s:url> https://alice.example/ </s:url>';
  const provenance = `<d:metadata-provenance>${url}</d:metadata-provenance>`;
  t.is(factsOf(`<d:deposit>${provenance}</d:deposit>`).provenance, 'https://alice.example/');
  t.is(factsOf(provenance).provenance, 'https://alice.example/');
  t.is(factsOf(url).provenance, null);
  t.is(factsOf(`<x:metadata-provenance>${url}</x:metadata-provenance>`).provenance, null);
  const long = `https://alice.example/${'x'.repeat(512 - 22)}`;
  const withUrl = (text: string) => provenance.replace('https://alice.example/', text);
  t.is(factsOf(withUrl(long)).provenance, long, 'whole, as it is compared with the provider URL');
  t.notThrows(() => assertLengths(factsOf(withUrl(long))));
  const longer = () => assertLengths(factsOf(withUrl(`${long}x`)));
  t.is(t.throws(longer, { instanceOf: DepositRefusal }).code, 'VALUE_TOO_LONG');
});

test('a reference is one object or one origin, without an origin to create or add to', (t) => {
  const reference = (inside: string) => `<d:deposit><d:reference>${inside}</d:reference></d:deposit>`;
  const swhid = `swh:1:dir:${'1'.repeat(40)};path=/`;
  const [object, origin] = [`<d:object swhid=" ${swhid} "/>`, '<d:origin url="https://a.example/x"/>'];
  t.deepEqual(factsOf(reference(object)).reference, { kind: 'object', value: swhid });
  t.deepEqual(factsOf(reference(origin)).reference, { kind: 'origin', value: 'https://a.example/x' });
  t.false('reference' in factsOf('<title>T</title>'));
  for (const inside of [
    reference(''),
    reference(object + origin),
    reference(object + object),
    reference('<d:object/>'),
    reference('<d:object swhid=" "/>'),
    reference(`<d:object swhid="${'x'.repeat(2_049)}"/>`),
    reference(object) + reference(object),
    `${reference(object)}<d:create_origin>${origin}</d:create_origin>`,
  ]) {
    const error = t.throws(() => factsOf(inside), { instanceOf: SwordError }, inside);
    t.is(error.code, 'ErrorBadRequest');
  }
});

test('the number of examined faults is limited in an entry with very many', (t) => {
  const terms = Array.from({ length: 400 }, (_, index) => `<c:zzzzz${index}/>`).join('');
  const { fieldFaults = [], fieldFaultsLeftOut = 0 } = factsOf(terms);
  t.is(fieldFaults.length + fieldFaultsLeftOut, 200);
});

test('the text of nested elements is not collected again for each', (t) => {
  const inside = `${'<c:url>a'.repeat(48)}${' a'.repeat(8 * 1024 ** 2)}${'</c:url>'.repeat(48)}`;
  t.deepEqual(faultsOf(`<c:name>x</c:name>${inside}`), [`url codemeta:url "${'a '.repeat(32)}"`]);
});
