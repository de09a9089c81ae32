import type { Iris } from './iris.ts';
import { APP, SIMPLE_ZIP } from './namespaces.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

export type ServiceDocument = {
  /** Title of the workspace. */
  readonly title: string;
  /** Bytes. */
  readonly maxUploadSize: number;
  /** Bytes of an archive that comes in pieces, by tus; absent where none can. */
  readonly maxResumableUploadSize?: number | undefined;
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
  { title, maxUploadSize, maxResumableUploadSize, collections }: ServiceDocument,
  { iris, depositNamespace }: { iris: Iris; depositNamespace: string },
): string {
  const isResumable = maxResumableUploadSize !== undefined;
  const service = element('service', [
    element('sword:version', SWORD_VERSION),
    element('sword:maxUploadSize', String(maxUploadSize)),
    ...(isResumable ? [element('depositns:maxResumableUploadSize', String(maxResumableUploadSize))] : []),
    element('workspace', [
      element('atom:title', title),
      ...collections.map((collection) => collectionElement(collection, iris, isResumable)),
    ]),
  ]);
  return xmlBody(service, { defaultNamespace: APP, depositNamespace });
}

function collectionElement(collection: ServedCollection, iris: Iris, isResumable: boolean): BodyElement {
  const iri = iris.collection(collection.name);
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
    ...(isResumable ? [element('depositns:resumableUploads', iris.uploads(collection.name))] : []),
  ];
  return element('collection', children, { href: iri });
}

/** The same facts as JSON. */
export function serviceDocumentJson(
  { title, maxUploadSize, maxResumableUploadSize, collections }: ServiceDocument,
  { iris }: { iris: Iris },
): string {
  const isResumable = maxResumableUploadSize !== undefined;
  return JSON.stringify({
    version: SWORD_VERSION,
    max_upload_size: maxUploadSize,
    ...(isResumable && { max_resumable_upload_size: maxResumableUploadSize }),
    workspace: {
      title,
      collections: collections.map((one) => collectionFacts(one, iris, isResumable)),
    },
  });
}

function collectionFacts(collection: ServedCollection, iris: Iris, isResumable: boolean) {
  const iri = iris.collection(collection.name);
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
    ...(isResumable && { resumable_uploads: iris.uploads(collection.name) }),
  };
}
