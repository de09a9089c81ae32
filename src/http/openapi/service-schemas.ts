import { errorTitle, swordErrorCodes } from '../../sword/documents/error-document.ts';
import { SWORD_VERSION } from '../../sword/documents/service-document.ts';
import { PACKAGINGS } from '../../sword/headers/packaging.ts';
import { count, described, listOf, object, ref, text, time, uri } from './schema-parts.ts';

const boolean = { type: 'boolean' } as const;

/** What is told of the service itself, and of requests that it refuses. */
export const SERVICE_SCHEMAS = {
  Generator: object({ name: text, version: text, uri }, {}, 'The software that answers.'),
  Person: object({ name: text }),
  Link: object({ rel: text, href: uri }, { type: text, length: count }),
  SwordError: object(
    {
      href: described(uri, 'Names the error: of SWORD 2.0, or of this service.'),
      title: { enum: [...new Set(swordErrorCodes.map(errorTitle))] },
      updated: time,
      generator: ref('Generator'),
      summary: described(text, 'What the depositor can do.'),
      treatment: { const: 'processing failed' },
      verbose_description: described(text, 'Values and limits.'),
    },
    {},
    'Why a request was refused: the SWORD error document.',
  ),
  Landing: object({ title: text, service_document: uri, service_description: uri }),
  Health: object(
    { status: { enum: ['live', 'ready'] } },
    {
      parked: described(
        { type: 'integer', minimum: 0 },
        'Events that are parked, when the service is ready.',
      ),
    },
  ),
  OpenApi: object(
    {
      openapi: { type: 'string', pattern: '^3\\.1\\.' },
      info: object({ title: text, version: text }, { description: text }),
      paths: { type: 'object' },
    },
    {
      servers: listOf(object({ url: text })),
      tags: listOf(object({ name: text }, { description: text })),
      security: listOf({ type: 'object' }),
      webhooks: { type: 'object' },
      components: { type: 'object' },
    },
  ),
  ServiceDocument: object(
    {
      version: { const: SWORD_VERSION },
      max_upload_size: described(count, 'Bytes of one archive.'),
      workspace: object({ title: text, collections: listOf(ref('ServedCollection')) }),
    },
    { max_resumable_upload_size: described(count, 'Bytes of one archive that comes in pieces.') },
  ),
  ServedCollection: object(
    {
      href: described(uri, 'COL-IRI'),
      title: text,
      accept: described(listOf(text), 'Media types of archives and entries.'),
      accept_multipart_related: described(listOf(text), 'Media types of archives in multipart/related.'),
      collection_policy: text,
      abstract: text,
      mediation: boolean,
      metadata_relevant_header: boolean,
      treatment: text,
      accept_packaging: listOf({ enum: PACKAGINGS }),
      name: text,
      idempotency_key: described(boolean, 'Whether POSTs may have an Idempotency-Key.'),
    },
    {
      service: described(uri, 'Service document of this collection alone.'),
      resumable_uploads: described(uri, 'Where uploads in pieces begin.'),
    },
  ),
};
