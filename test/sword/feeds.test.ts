import test from 'ava';
import type { Document } from '../../src/sword/documents/document.ts';
import { type History, historyFeed } from '../../src/sword/documents/history-feed.ts';
import { render } from '../../src/sword/documents/render.ts';
import type { Statement } from '../../src/sword/documents/statement.ts';
import { mediaFeed, statementFeed } from '../../src/sword/documents/statement.ts';
import { statementRdf } from '../../src/sword/documents/statement-rdf.ts';
import { Iris } from '../../src/sword/iris.ts';
import { ATOM, child, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { readAtomStatement, readOreStatement } from '../../testing/documents/sword-statement.ts';

const language = {
  iris: new Iris('https://deposit.example/base/'),
  depositNamespace: 'https://deposit.example/schema/',
  generator: { name: 'Deposit Service', version: '1.2.3', uri: 'https://deposit.example/about' },
};
const xml = (document: Document) => render(document, 'xml', language);
const json = (document: Document) => render(document, 'json', language);
const about = {
  depositId: 42,
  uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
  collection: 'physics',
  title: 'Orbitals',
  client: 'alice',
  updatedAt: '2026-03-01T10:00:00.250Z',
};
const orbitalsZip = {
  filename: 'orbitals.zip',
  mediaType: 'application/zip',
  length: 1234,
  sha256: 'a'.repeat(64),
};
const statement: Statement = {
  ...about,
  status: 'rejected',
  statusDetail: '- The deposit has no author (author)\n- It is empty (archive)',
  archives: [
    { ...orbitalsZip, number: 1, depositedOn: '2026-03-01T09:59:58.999Z', revision: 1 },
    { ...orbitalsZip, number: 3, depositedOn: '2026-03-01T09:59:59Z', revision: 4 },
  ],
};
const history: History = {
  ...about,
  from: 100,
  previous: 0,
  next: 200,
  events: [
    {
      id: '0e4f7a30-52a6-5c5a-9d0e-5f1f0a1c9b11',
      type: 'DepositVerified',
      occurredAt: '2026-03-01T10:00:00.000Z',
      by: 'checker',
      description: {
        sentence: 'Deposit passed check 1.',
        details: [
          { label: 'archive', value: 'aa' },
          { label: 'listing', value: 'inner', internal: true },
        ],
      },
    },
  ],
};

test('the Statement of several archives lists each, with its time in whole seconds', (t) => {
  const atom = readAtomStatement(parsedBody(xml(statementFeed(statement, language))));
  const ore = readOreStatement(parsedBody(statementRdf(statement, language)));
  for (const { states, resources, originalDeposits } of [atom, ore]) {
    t.deepEqual(states, [['https://deposit.example/schema/state/rejected', statement.statusDetail]]);
    t.deepEqual(originalDeposits, resources);
    t.deepEqual(
      resources.map(({ depositedOn }) => depositedOn),
      ['2026-03-01T09:59:58Z', '2026-03-01T09:59:59Z'],
    );
  }
  const media = 'https://deposit.example/base/1/physics/42/media/';
  for (const { resources } of [ore, atom]) {
    t.deepEqual(
      resources.map(({ uri }) => uri),
      [`${media}1/`, `${media}3/`],
    );
  }
});

test('the feed of the archives lists the location, length and digest of each', (t) => {
  const feed = parsedBody(xml(mediaFeed(statement, language)));
  t.is(child(feed, `${ATOM}title`).text, 'Archives of Orbitals');
  const entries = feed.children.filter(({ name }) => name === `${ATOM}entry`);
  t.is(entries.length, 2);
  const href = 'https://deposit.example/base/1/physics/42/media/3/';
  const entry = entries[1] ?? feed;
  t.deepEqual(child(entry, `${ATOM}content`).attributes, { src: href, type: 'application/zip' });
  t.like(child(entry, `${ATOM}link`).attributes, { rel: 'edit-media', href, length: '1234' });
  t.deepEqual(texts(entry, '{https://deposit.example/schema/}sha256'), ['a'.repeat(64)]);
});

test('a page of the history links to the adjacent ones, and has no internal data of the service', (t) => {
  const feed = parsedBody(xml(historyFeed(history, language)));
  const links = feed.children
    .filter(({ name }) => name === `${ATOM}link`)
    .map(({ attributes }) => attributes);
  const iri = 'https://deposit.example/base/1/physics/42/history/';
  t.deepEqual(
    links.map(({ rel, href }) => [rel, href]),
    [
      ['self', `${iri}?from=100`],
      ['first', iri],
      ['previous', iri],
      ['next', `${iri}?from=200`],
    ],
  );
  t.is(child(child(feed, `${ATOM}entry`), `${ATOM}content`).text, 'archive: aa');
  t.false(json(historyFeed(history, language)).includes('inner'));
});

test('feeds and maps are well-formed with any texts, and return them unchanged', (t) => {
  for (const text of [
    '<&>"\'',
    ']]>',
    '&amp;&#1;&nbsp;',
    '<!-- --',
    'a\r\nb\tc',
    'é漢\u{1f600}\u0085\u2028',
  ]) {
    const [archive] = statement.archives;
    const odd = {
      ...statement,
      title: text,
      client: text,
      statusDetail: text,
      archives: archive ? [{ ...archive, filename: text, mediaType: text }] : [],
    };
    const oddLanguage = { ...language, generator: { name: text, version: text, uri: text } };
    const feed = parsedBody(xml(statementFeed(odd, oddLanguage)));
    t.is(child(feed, `${ATOM}title`).text, `Statement of ${text}`);
    const entry = child(feed, `${ATOM}entry`);
    t.deepEqual(texts(entry, `${ATOM}title`), [text]);
    t.is(child(entry, `${ATOM}content`).attributes['type'], text);
    t.is(readAtomStatement(feed).states[0]?.[1], text.trim());
    const ore = readOreStatement(parsedBody(statementRdf(odd, oddLanguage)));
    t.is(ore.resources[0]?.depositedBy, text.trim());
    t.is(ore.resources[0]?.uri, 'https://deposit.example/base/1/physics/42/media/1/');

    const description = { sentence: text, details: [{ label: 'reason', value: text }] };
    const events = history.events.map((event) => ({ ...event, by: text, description }));
    const shown = child(parsedBody(xml(historyFeed({ ...history, events }, oddLanguage))), `${ATOM}entry`);
    t.is(child(shown, `${ATOM}title`).text, text);
    t.is(child(shown, `${ATOM}content`).text, `reason: ${text}`);
    t.notThrows(() => JSON.parse(json(historyFeed({ ...history, events }, oddLanguage))));
  }
});
