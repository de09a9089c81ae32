import { PACKAGINGS } from '../headers/packaging.ts';
import type { Iris } from '../iris.ts';
import { APP } from '../namespaces.ts';
import { type BodyElement, element, xmlBody } from '../xml/xml-body.ts';

export type ServiceDocument = {
  /** Title of the workspace. */
  readonly title: string;
  /** Number of bytes. */
  readonly maxUploadSize: number;
  /** Maximum bytes of a resumable upload (tus); absent if they are disabled. */
  readonly maxResumableUploadSize?: number | undefined;
  /** Collections granted to the client. */
  readonly collections: readonly ServedCollection[];
  /** True in the service document of a collection, which links to no further service document. */
  readonly isOfCollection?: boolean;
};

type ServedCollection = {
  readonly name: string;
  readonly title: string;
  /** Accepted media types of archives. */
  readonly accept: readonly string[];
  readonly policy: string;
  readonly abstract: string;
  readonly treatment: string;
};

/**
 * Media type of entries, which every collection accepts. It comes last, since clients use the first type for their
 * archive.
 */
const ENTRY_TYPE = 'application/atom+xml;type=entry';
export const SWORD_VERSION = '2.0';

/** Renders the service document (SD-IRI). */
export function serviceDocument(
  document: ServiceDocument,
  { iris, depositNamespace }: { iris: Iris; depositNamespace: string },
): string {
  const { title, maxUploadSize, maxResumableUploadSize, collections } = document;
  const isResumable = maxResumableUploadSize !== undefined;
  const service = element('service', [
    element('sword:version', SWORD_VERSION),
    element('sword:maxUploadSize', String(maxUploadSize)),
    ...(isResumable ? [element('depositns:maxResumableUploadSize', String(maxResumableUploadSize))] : []),
    element('workspace', [
      element('atom:title', title),
      ...collections.map((collection) => collectionElement(collection, document, iris)),
    ]),
  ]);
  return xmlBody(service, { defaultNamespace: APP, depositNamespace });
}

function collectionElement(
  collection: ServedCollection,
  { maxResumableUploadSize, isOfCollection }: ServiceDocument,
  iris: Iris,
): BodyElement {
  const isResumable = maxResumableUploadSize !== undefined;
  const children = [
    element('atom:title', collection.title),
    ...collection.accept.map((type) => element('accept', type)),
    ...collection.accept.map((type) => element('accept', type, { alternate: 'multipart-related' })),
    element('accept', ENTRY_TYPE),
    element('sword:collectionPolicy', collection.policy),
    element('dcterms:abstract', collection.abstract),
    element('sword:mediation', 'false'),
    element('sword:metadataRelevantHeader', 'false'),
    element('sword:treatment', collection.treatment),
    ...PACKAGINGS.map((packaging) => element('sword:acceptPackaging', packaging)),
    ...(isOfCollection ? [] : [element('sword:service', iris.collectionService(collection.name))]),
    element('sword:name', collection.name),
    ...(isResumable ? [element('depositns:resumableUploads', iris.uploads(collection.name))] : []),
    element('depositns:idempotencyKey', 'true'), // a client may repeat a POST with its key
  ];
  return element('collection', children, { href: iris.collection(collection.name) });
}

/** Renders the same facts as JSON. */
export function serviceDocumentJson(document: ServiceDocument, { iris }: { iris: Iris }): string {
  const { title, maxUploadSize, maxResumableUploadSize, collections } = document;
  const isResumable = maxResumableUploadSize !== undefined;
  return JSON.stringify({
    version: SWORD_VERSION,
    max_upload_size: maxUploadSize,
    ...(isResumable && { max_resumable_upload_size: maxResumableUploadSize }),
    workspace: {
      title,
      collections: collections.map((one) => collectionFacts(one, document, iris)),
    },
  });
}

function collectionFacts(
  collection: ServedCollection,
  { maxResumableUploadSize, isOfCollection }: ServiceDocument,
  iris: Iris,
) {
  const isResumable = maxResumableUploadSize !== undefined;
  return {
    href: iris.collection(collection.name),
    title: collection.title,
    accept: [...collection.accept, ENTRY_TYPE],
    accept_multipart_related: collection.accept,
    collection_policy: collection.policy,
    abstract: collection.abstract,
    mediation: false,
    metadata_relevant_header: false,
    treatment: collection.treatment,
    accept_packaging: PACKAGINGS,
    ...(!isOfCollection && { service: iris.collectionService(collection.name) }),
    name: collection.name,
    ...(isResumable && { resumable_uploads: iris.uploads(collection.name) }),
    idempotency_key: true,
  };
}
