import type { Iris } from './iris.ts';
import { APP, SIMPLE_ZIP } from './namespaces.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

export type ServiceDocument = {
  /** Title of the workspace. */
  readonly title: string;
  /** Bytes. */
  readonly maxUploadSize: number;
  /** Those of the connected client. */
  readonly collections: readonly ServedCollection[];
};

export type ServedCollection = {
  readonly name: string;
  readonly title: string;
  /** Media types of archives. */
  readonly accept: readonly string[];
  readonly policy: string;
  readonly abstract: string;
  readonly treatment: string;
};

/** Entries are accepted everywhere; they come last, since clients take the first type for their archive. */
const ENTRY_TYPE = 'application/atom+xml;type=entry';
const SWORD_VERSION = '2.0';

/** The answer of the SD-IRI. */
export function serviceDocument(
  { title, maxUploadSize, collections }: ServiceDocument,
  { iris, depositNamespace }: { iris: Iris; depositNamespace: string },
): string {
  const service = element('service', [
    element('sword:version', SWORD_VERSION),
    element('sword:maxUploadSize', String(maxUploadSize)),
    element('workspace', [
      element('atom:title', title),
      ...collections.map((collection) => collectionElement(collection, iris.collection(collection.name))),
    ]),
  ]);
  return xmlBody(service, { defaultNamespace: APP, depositNamespace });
}

function collectionElement(collection: ServedCollection, iri: string): BodyElement {
  const children = [
    element('atom:title', collection.title),
    ...[...collection.accept, ENTRY_TYPE].map((type) => element('accept', type)),
    element('sword:collectionPolicy', collection.policy),
    element('dcterms:abstract', collection.abstract),
    element('sword:mediation', 'false'),
    element('sword:metadataRelevantHeader', 'false'),
    element('sword:treatment', collection.treatment),
    element('sword:acceptPackaging', SIMPLE_ZIP),
    element('sword:service', iri),
    element('sword:name', collection.name),
  ];
  return element('collection', children, { href: iri });
}

/** The same facts as JSON. */
export function serviceDocumentJson(
  { title, maxUploadSize, collections }: ServiceDocument,
  { iris }: { iris: Iris },
): string {
  return JSON.stringify({
    version: SWORD_VERSION,
    max_upload_size: maxUploadSize,
    workspace: {
      title,
      collections: collections.map((one) => collectionFacts(one, iris.collection(one.name))),
    },
  });
}

function collectionFacts(collection: ServedCollection, iri: string) {
  return {
    href: iri,
    title: collection.title,
    accept: [...collection.accept, ENTRY_TYPE],
    collection_policy: collection.policy,
    abstract: collection.abstract,
    mediation: false,
    metadata_relevant_header: false,
    treatment: collection.treatment,
    accept_packaging: [SIMPLE_ZIP],
    service: iri,
    name: collection.name,
  };
}
