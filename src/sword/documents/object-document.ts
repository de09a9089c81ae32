import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { type BodyElement, element, xmlBody } from '../xml/xml-body.ts';
import { generatorElement } from './generator.ts';
import type { RenderContext } from './render-context.ts';

/** An object that a SWHID names among the deposits of a client. */
export type ObjectDocument = {
  /** SWHID without qualifiers. */
  readonly swhid: string;
  /** SWHID with the qualifiers of the request. */
  readonly asked: string;
  readonly objectType: 'content' | 'directory' | 'revision' | 'snapshot';
  /**
   * Path from the root of a deposit's directory, percent-encoded as in SWHIDs; `null` for objects outside of a
   * directory.
   */
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
  /** The client. */
  readonly author: string;
  /** Deposits that contain the object, newest first. */
  readonly deposits: readonly ObjectDeposit[];
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
  { iris, depositNamespace, generator }: RenderContext,
): string {
  const entry = [
    element('id', document.swhid),
    element('title', titleOf(document)),
    element('updated', document.updatedAt),
    element('author', [element('name', document.author)]),
    generatorElement(generator),
    ...linksOf(document, iris).map((link) => element('link', '', link)),
    element('content', titleOf(document), { type: 'text' }),
    ...elementsOf(fieldsOf(document)),
    ...document.deposits.map((deposit) => element('depositns:deposit', elementsOf(depositOf(deposit, iris)))),
  ];
  return xmlBody(element('entry', entry), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function objectJson(
  document: ObjectDocument,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): string {
  return JSON.stringify({
    id: document.swhid,
    title: titleOf(document),
    updated: document.updatedAt,
    author: { name: document.author },
    generator,
    links: linksOf(document, iris),
    ...fieldsOf(document),
    deposits: document.deposits.map((deposit) => depositOf(deposit, iris)),
  });
}

function titleOf({ objectType, path, swhid }: ObjectDocument): string {
  return `The ${objectType} ${path ?? swhid}`;
}

function fieldsOf({ swhid, objectType, path, length, mode, lines, bytes }: ObjectDocument) {
  return { swhid, object_type: objectType, path, length, mode, lines, bytes };
}

function depositOf({ depositId, collection, origin, context }: ObjectDeposit, iris: Iris) {
  return {
    id: depositId,
    collection,
    status_iri: iris.status(collection, depositId),
    origin_url: origin,
    swhid_context: context,
  };
}

/** Returns an element for each field that is not `null`. */
function elementsOf(fields: Readonly<Record<string, string | number | null>>): BodyElement[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : [element(`depositns:${name}`, String(value))],
  );
}

function linksOf({ asked, formats, next }: ObjectDocument, iris: Iris) {
  const href = iris.object(asked);
  return [
    { rel: 'self', href },
    ...formats.map((type) => ({ rel: 'alternate', href, type })),
    ...(next === null ? [] : [{ rel: 'next', href: iris.object(asked, next) }]),
  ];
}
