import test from 'ava';
import * as fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { depositReceipt } from '../../src/sword/documents/deposit-receipt.ts';
import type { Document } from '../../src/sword/documents/document.ts';
import { errorDocument } from '../../src/sword/documents/error-document.ts';
import { render } from '../../src/sword/documents/render.ts';
import { serviceDocument } from '../../src/sword/documents/service-document.ts';
import { statementFeed } from '../../src/sword/documents/statement.ts';
import { statusDocument } from '../../src/sword/documents/status-document.ts';
import { Iris } from '../../src/sword/iris.ts';
import { type BodyElement, element } from '../../src/sword/xml/xml-body.ts';
import { xmlBody } from '../../src/sword/xml/xml-builder.ts';
import { type Parsed, parsedBody } from '../../testing/documents/parsed-body.ts';
import { oddText, sayable } from './odd-texts.ts';

const namespaces = {
  defaultNamespace: 'http://www.w3.org/2005/Atom',
  depositNamespace: 'https://deposit.example/s',
};
const xml = (document: Document) => render(document, 'xml', namespaces);
const json = (document: Document) => render(document, 'json', namespaces);

const { tree } = fc.letrec<{ tree: BodyElement }>((tie) => ({
  tree: fc
    .record({
      name: fc.constantFrom(
        'title',
        'sword:treatment',
        'dcterms:abstract',
        'depositns:status',
        '__proto__',
        'constructor',
      ),
      attributes: fc.dictionary(fc.constantFrom('type', 'href', 'rel'), oddText),
      content: fc.oneof({ maxDepth: 3 }, oddText, fc.array(tie('tree'), { maxLength: 4 })),
    })
    .map(({ name, attributes, content }) => element(name, content, attributes)),
}));

test('every written body is parsed to the same parts by two parsers', (t) => {
  fc.assert(
    fc.property(tree, (root) => {
      const body = xmlBody(root, namespaces);
      t.true(XMLValidator.validate(body) === true);
      t.notThrows(() => new XMLParser({ ignoreAttributes: false }).parse(withoutProto(body)));
      assertSame(parsedBody(body), root);
    }),
    { numRuns: 150 },
  );

  function assertSame(parsed: Parsed, { name, attributes, content }: BodyElement): void {
    t.is(parsed.qname, name);
    for (const [key, value] of Object.entries(attributes)) t.is(parsed.attributes[key], sayable(value));
    if (typeof content === 'string') t.is(parsed.text, sayable(content));
    else for (const [index, child] of content.entries()) assertSame(parsed.children[index] as Parsed, child);
  }
});

/** fast-xml-parser refuses such an element by name. */
function withoutProto(body: string): string {
  return body.replace(/(<\/?)(__proto__|constructor)/g, '$1x');
}

const iris = new Iris('https://deposit.example/');

test('every document returns the texts of clients unchanged', (t) => {
  fc.assert(
    fc.property(oddText, oddText, (text, other) => {
      const language = {
        iris,
        ...namespaces,
        generator: { name: other, version: text, uri: text },
        refIdAliases: true,
      };
      const archive = { filename: text, mediaType: other };
      const shown = {
        depositId: 1,
        uuid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
        collection: 'physics',
        title: text,
        client: other,
        createdAt: '2026-01-02T03:04:05.000Z',
        updatedAt: '2026-01-02T03:04:05.000Z',
        archive,
        status: 'done',
        statusDetail: other,
        loaded: { refId: text, refIdContext: other },
        externalId: other,
        origin: text,
        treatment: text,
        rejection: null,
        archives: [{ ...archive, number: 1, length: 1, sha256: 'a'.repeat(64), md5: null }],
        terms: [{ name: 'abstract', value: other }],
      } as const;
      const collection = {
        name: 'physics',
        title: text,
        accept: [text],
        policy: other,
        abstract: text,
        treatment: other,
      };
      const archiveLimits = { unpackedBytes: 1, members: 1, ratio: 1 };
      const statement = {
        ...shown,
        archives: [
          {
            ...archive,
            number: 1,
            length: 1,
            sha256: 'a'.repeat(64),
            depositedOn: shown.createdAt,
            revision: 1,
          },
        ],
      };
      const error = {
        code: 'NotFound',
        summary: text,
        verboseDescription: other,
        updated: shown.updatedAt,
      } as const;
      for (const body of [
        xml(depositReceipt(shown, language)),
        xml(statusDocument(shown, language)),
        xml(statementFeed(statement, language)),
        xml(errorDocument(error, language)),
        xml(
          serviceDocument(
            { maxUploadSize: 1, archiveLimits, dryRun: true, collections: [collection] },
            language,
          ),
        ),
      ]) {
        t.true(XMLValidator.validate(body) === true, body);
        const said = new Set(textsOf(parsedBody(body)));
        t.true(text === '' || said.has(sayable(text)), body);
        t.true(other === '' || said.has(sayable(other)), body);
      }
      t.notThrows(() => JSON.parse(json(depositReceipt(shown, language))));
    }),
    { numRuns: 100 },
  );
});

function textsOf({ text, attributes, children }: Parsed): string[] {
  return [text, ...Object.values(attributes), ...children.flatMap(textsOf)];
}
