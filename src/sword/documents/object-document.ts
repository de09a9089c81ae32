import type { Iris } from '../iris.ts';
import { element } from '../xml/xml-body.ts';
import {
  authorFact,
  type Document,
  type Fact,
  linksFact,
  onlyJson,
  onlyXml,
  type RenderContext,
  text,
} from './document.ts';

/** An object that a SWHID names among the deposits of a client. */
export type ObjectDocument = {
  /** SWHID without qualifiers. */
  readonly swhid: string;
  /** SWHID with the qualifiers of the request. */
  readonly asked: string;
  readonly objectType: 'content' | 'directory' | 'revision' | 'snapshot';
  /** Path in a deposit's directory, percent-encoded as in SWHIDs; `null` for objects outside of it. */
  readonly path: string | null;
  /** Number of bytes of a content; `null` for other objects. */
  readonly length: number | null;
  /** File mode in git's notation. */
  readonly mode: string | null;
  /** Requested part of the content, from the qualifiers. */
  readonly lines: string | null;
  readonly bytes: string | null;
  /** Media types in which the same IRI serves the bytes. */
  readonly formats: readonly string[];
  /** Time of loading. RFC 3339, UTC. */
  readonly updatedAt: string;
  readonly client: string;
  /** Deposits that contain the object, newest first. */
  readonly deposits: readonly ObjectDeposit[];
  /** Id below which all of them are; `undefined`: from the newest on. */
  readonly below: number | undefined;
  /** Id below which there are more deposits. */
  readonly next: number | null;
};

type ObjectDeposit = {
  readonly depositId: number;
  readonly collection: string;
  readonly origin: string;
  /** SWHID with qualifiers for this deposit. */
  readonly context: string;
};

export function objectDocument(
  document: ObjectDocument,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): Document {
  const { swhid, objectType, path, length, mode, lines, bytes } = document;
  const title = `The ${objectType} ${path ?? swhid}`;
  return {
    element: 'entry',
    facts: [
      text('id', swhid),
      text('title', title),
      text('updated', document.updatedAt),
      authorFact(document.client),
      ...onlyJson({ generator }), // RFC 4287 has it in feeds alone
      linksFact(linksOf(document, iris)),
      onlyXml(element('content', title, { type: 'text' })),
      ...factsOf({ swhid, object_type: objectType, path, length, mode, lines, bytes }),
      {
        name: 'deposits',
        parts: document.deposits.map(({ depositId, collection, origin, context }) => ({
          element: 'depositns:deposit',
          facts: factsOf({
            id: depositId,
            collection,
            status_iri: iris.status(collection, depositId),
            origin_url: origin,
            swhid_context: context,
          }),
        })),
      },
    ],
  };
}

/** Returns a fact for each field; in XML those that are `null` have no element. */
function factsOf(fields: Readonly<Record<string, string | number | null>>): Fact[] {
  return Object.entries(fields).map(([name, value]) =>
    value === null ? { name, value } : text(name, value, `depositns:${name}`),
  );
}

function linksOf({ asked, formats, below, next }: ObjectDocument, iris: Iris) {
  const href = iris.object(asked);
  return [
    { rel: 'self', href: iris.object(asked, below) },
    ...formats.map((type) => ({ rel: 'alternate', href, type })),
    ...(next === null ? [] : [{ rel: 'next', href: iris.object(asked, next) }]),
  ];
}
