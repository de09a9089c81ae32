import test from 'ava';
import * as fc from 'fast-check';
import { collectionFeed, type DepositList } from '../../src/sword/documents/collection-feed.ts';
import type { Document } from '../../src/sword/documents/document.ts';
import { render, renderInPieces } from '../../src/sword/documents/render.ts';
import { Iris } from '../../src/sword/iris.ts';
import { type BodyElement } from '../../src/sword/xml/xml-body.ts';
import { xmlBody } from '../../src/sword/xml/xml-builder.ts';
import { xmlText } from '../../src/sword/xml/xml-text.ts';
import { LruCache } from '../../src/tools/lru-cache.ts';
import { entriesOf } from '../../testing/documents/listed-deposits.ts';
import { ATOM, child, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { anyCharacter } from '../properties/odd-texts.ts';

const DEPOSIT = '{https://deposit.example/schema}';
const language = {
  iris: new Iris('https://deposit.example/base/'),
  depositNamespace: 'https://deposit.example/schema',
  generator: { name: 'Deposit Service', version: '1.2.3', uri: 'https://deposit.example/about' },
};
const xml = (document: Document) => render(document, 'xml', language);
const asJson = (document: Document) => render(document, 'json', language);
const hostile = '</title>\u0000<b a="1">&amp; ]]> \ud800 \u{1f98a}\r\n"\'';
const list: DepositList = {
  collection: 'r & d',
  title: hostile,
  client: 'alice/ä',
  updatedAt: '2026-03-01T10:00:00.250Z',
  count: 2,
  links: [{ rel: 'next', href: 'https://deposit.example/base/1/r%20%26%20d/?page=2&below=7' }],
  deposits: [
    {
      version: '0 42 3',
      depositId: 42,
      uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      collection: 'r & d',
      title: hostile,
      client: 'alice/ä',
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.250Z',
      completedAt: null,
      status: 'rejected',
      statusDetail: `- ${hostile}`,
      externalId: hostile,
      loaded: null,
      origin: `https://a.example/?a=1&b=${hostile}`,
    },
  ],
};
const shown = hostile.replace('\u0000', '\ufffd').replace('\ud800', '\ufffd');

test('the list is well-formed with any texts of clients, and returns them unchanged', (t) => {
  const feed = parsedBody(xml(collectionFeed(list, language)));
  t.is(child(feed, `${ATOM}title`).text, `Deposits of alice/ä in ${shown}`);
  t.true(URL.canParse(child(feed, `${ATOM}id`).text));
  t.is(child(feed, `${ATOM}link`).attributes['href'], list.links[0]?.href);
  const [entry] = entriesOf(feed);
  if (!entry) throw new Error('There is no entry.');
  t.deepEqual(texts(entry, `${ATOM}title`), [shown]);
  t.deepEqual(texts(entry, `${DEPOSIT}external_id`), [shown]);
  t.deepEqual(texts(entry, `${DEPOSIT}status_detail`), [`- ${shown}`]);
  t.deepEqual(texts(entry, `${DEPOSIT}origin_url`), [`https://a.example/?a=1&b=${shown}`]);
  t.deepEqual(texts(entry, `${DEPOSIT}complete_date`), []);
  const json = JSON.parse(asJson(collectionFeed(list, language))) as { entries: Record<string, unknown>[] };
  t.like(json.entries[0], { deposit_id: 42, external_id: hostile, status: 'rejected' });
  t.false('complete_date' in (json.entries[0] ?? {}));
});

test('lists are rendered like all other documents', (t) => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string(),
    fc.constantFrom('', '&amp;', '&#0;', '<a>"\'', ']]>', 'a\r\nb\tc', '\u0000\ud800\ufeff'),
  );
  const { element } = fc.letrec<{ element: BodyElement }>((tie) => ({
    element: fc.record({
      name: fc.constantFrom('entry', 'title', 'depositns:id', 'sword:state'),
      attributes: fc.dictionary(fc.constantFrom('rel', 'href', 'term'), text),
      content: fc.oneof({ maxDepth: 3 }, text, fc.array(tie('element'), { maxLength: 4 })),
    }),
  }));
  const namespaces = {
    defaultNamespace: 'http://www.w3.org/2005/Atom',
    depositNamespace: 'https://d.example/?a&b',
  };
  fc.assert(fc.property(element, (root) => xmlText(root, namespaces) === xmlBody(root, namespaces)));
  t.pass();
});

test('a list rendered in chunks is the same text', (t) => {
  for (const format of ['xml', 'json'] as const) {
    for (const deposits of [[], list.deposits, [...list.deposits, ...list.deposits]]) {
      const many = { ...list, deposits };
      const pieces = [...renderInPieces(collectionFeed(many, language), format, language)];
      t.is(pieces.join(''), render(collectionFeed(many, language), format, language));
      t.true(pieces.length > deposits.length);
    }
  }
});

test('the text of a deposit is rendered once for each version and format', (t) => {
  const cache = new LruCache<string>(100_000, ({ length }) => length);
  const [deposit] = list.deposits;
  if (!deposit) throw new Error('There is no deposit.');
  const textOf = (status: typeof deposit.status, version: string, format: 'xml' | 'json' | 'html') => {
    const feed = collectionFeed({ ...list, deposits: [{ ...deposit, status, version }] }, language);
    return [...renderInPieces(feed, format, language, cache)].join('');
  };
  for (const format of ['xml', 'json'] as const) {
    const first = textOf('rejected', '0 42 3', format);
    t.is(textOf('done', '0 42 3', format), first, 'of the same version');
    for (const version of ['0 42 4', '1 42 3']) t.true(textOf('done', version, format).includes('done'));
  }
  t.true(textOf('done', '0 42 3', 'html').includes('done'), 'pages are not cached');
});
