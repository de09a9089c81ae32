import type { Collection } from '../../domain/collection/collection.ts';
import { PACKAGINGS } from '../headers/packaging.ts';
import type { Iris } from '../iris.ts';
import { APP } from '../namespaces.ts';
import { element } from '../xml/xml-body.ts';
import { type Document, onlyJson, type Part, type RenderContext, text, texts } from './document.ts';

export type ServiceDocument = {
  /** Number of bytes. */
  readonly maxUploadSize: number;
  /** Maximum bytes of a resumable upload (tus); absent if they are disabled. */
  readonly maxResumableUploadSize?: number | undefined;
  readonly archiveLimits: ArchiveLimits;
  /** Domain that a URL in the metadata of the client must be under; absent if it has none. */
  readonly clientDomain?: string | undefined;
  /** Whether a POST to a collection may be a dry run. */
  readonly dryRun: boolean;
  /** Collections granted to the client. */
  readonly collections: readonly ServedCollection[];
  /** True in the service document of a collection, which links to no further service document. */
  readonly isOfCollection?: boolean;
};

/** Limits of one archive that the checks unpack: bytes, number of members, and bytes divided by packed bytes. */
type ArchiveLimits = { readonly unpackedBytes: number; readonly members: number; readonly ratio: number };

type ServedCollection = Omit<Extract<Collection, { status: 'open' }>, 'status'> & { readonly name: string };

/** Media type of entries, accepted everywhere. It is last, since clients use the first type for archives. */
const ENTRY_TYPE = 'application/atom+xml;type=entry';
export const SWORD_VERSION = '2.0';
export const SERVICE_TITLE = 'Source code deposits';

/** Describes the service document (SD-IRI). */
export function serviceDocument(document: ServiceDocument, { iris }: Pick<RenderContext, 'iris'>): Document {
  const { maxUploadSize, maxResumableUploadSize: resumable, clientDomain, collections } = document;
  const { unpackedBytes, members, ratio } = document.archiveLimits;
  return {
    element: 'service',
    isHot: true,
    namespace: APP,
    facts: [
      text('version', SWORD_VERSION, 'sword:version'),
      text('max_upload_size', maxUploadSize, 'sword:maxUploadSize'),
      ...(resumable === undefined
        ? []
        : [text('max_resumable_upload_size', resumable, 'depositns:maxResumableUploadSize')]),
      text('max_unpacked_size', unpackedBytes, 'depositns:maxUnpackedSize'),
      text('max_members', members, 'depositns:maxMembers'),
      text('max_ratio', ratio, 'depositns:maxRatio'),
      ...(clientDomain === undefined ? [] : [text('client_domain', clientDomain, 'depositns:clientDomain')]),
      {
        name: 'workspace',
        parts: {
          element: 'workspace',
          facts: [
            text('title', SERVICE_TITLE, 'atom:title'),
            { name: 'collections', parts: collections.map((one) => collectionPart(one, document, iris)) },
          ],
        },
      },
    ],
  };
}

function collectionPart(
  { name, accept, ...collection }: ServedCollection,
  { maxResumableUploadSize, dryRun, isOfCollection }: ServiceDocument,
  iris: Iris,
): Part {
  const href = iris.collection(name);
  return {
    element: 'collection',
    attributes: { href },
    facts: [
      ...onlyJson({ href }),
      text('title', collection.title, 'atom:title'),
      {
        name: 'accept',
        value: [...accept, ENTRY_TYPE],
        elements: accept.map((type) => element('accept', type)),
      },
      {
        name: 'accept_multipart_related',
        value: accept,
        elements: [
          ...accept.map((type) => element('accept', type, { alternate: 'multipart-related' })),
          element('accept', ENTRY_TYPE),
        ],
      },
      text('collection_policy', collection.policy, 'sword:collectionPolicy'),
      text('abstract', collection.abstract, 'dcterms:abstract'),
      text('mediation', false, 'sword:mediation'),
      text('metadata_relevant_header', false, 'sword:metadataRelevantHeader'),
      text('treatment', collection.treatment, 'sword:treatment'),
      texts('accept_packaging', PACKAGINGS, 'sword:acceptPackaging'),
      ...(isOfCollection ? [] : [text('service', iris.collectionService(name), 'sword:service')]),
      text('name', name, 'sword:name'),
      ...(maxResumableUploadSize === undefined
        ? []
        : [text('resumable_uploads', iris.uploads(name), 'depositns:resumableUploads')]),
      text('idempotency_key', true, 'depositns:idempotencyKey'), // a client may repeat a write with its key
      text('dry_run', dryRun, 'depositns:dryRun'),
    ],
  };
}
