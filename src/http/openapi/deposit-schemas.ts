import { STATUSES } from '../../domain/deposit/status-detail.ts';
import { PACKAGINGS } from '../../sword/headers/packaging.ts';
import {
  count,
  depositId,
  described,
  listOf,
  object,
  orNull,
  qualifiedSwhid,
  ref,
  sha256,
  swhid,
  text,
  time,
  uri,
  urn,
} from './schema-parts.ts';

const status = { enum: STATUSES };
const detail = described(text, 'A sentence, or a line for each reason and warning.');
const date = described(text, 'For people, as Sept. 26, 2017, 10:32 a.m., in UTC.');

/** Once the deposit is done; under the second names only where the operator has these. */
const identifiers = {
  deposit_ref_id: swhid,
  deposit_ref_id_context: qualifiedSwhid,
  deposit_swh_id: swhid,
  deposit_swh_id_context: qualifiedSwhid,
};

const common = { id: urn, title: text, updated: time };

/** What is told of one deposit. */
export const DEPOSIT_SCHEMAS = {
  Receipt: object({
    ...common,
    published: time,
    author: ref('Person'),
    generator: ref('Generator'),
    deposit_id: depositId,
    deposit_date: date,
    deposit_archive: described(orNull(text), 'File name of the latest archive.'),
    deposit_status: status,
    content: orNull(object({ src: described(uri, 'EM-IRI'), type: text })),
    links: listOf(ref('Link')),
    archives: listOf(ref('ReceivedArchive')),
    dcterms: described(
      listOf(object({ name: text, value: text })),
      'The Dublin Core terms of the metadata that count.',
    ),
    packaging: listOf({ enum: PACKAGINGS }),
    treatment: text,
  }),
  ReceivedArchive: object(
    { href: described(uri, 'File-IRI'), type: text, filename: text, length: count, sha256 },
    { md5: { type: 'string', pattern: '^[0-9a-f]{32}$' } },
  ),
  Status: object(
    { ...common, deposit_id: depositId, deposit_status: status, deposit_status_detail: detail },
    identifiers,
  ),
  Content: object({
    ...common,
    published: time,
    deposit_id: depositId,
    deposit_date: date,
    deposit_status: status,
    deposit_status_detail: detail,
  }),
  DryRun: object({
    ...common,
    dry_run: { const: true },
    deposit_status: { enum: ['rejected', 'verified', 'done'] },
    deposit_status_detail: detail,
  }),
  DepositNews: object({
    type: { enum: ['deposit.status', 'deposit.deleted'] },
    timestamp: time,
    data: object(
      {
        event_id: { type: 'string', format: 'uuid' },
        revision: count,
        deposit_id: depositId,
        client: text,
        collection: text,
        title: orNull(text),
        created: time,
        updated: time,
        links: object({
          edit: uri,
          edit_media: uri,
          status: uri,
          content: uri,
          statement: uri,
          history: uri,
          events: uri,
        }),
      },
      { deposit_status: status, deposit_status_detail: detail, ...identifiers },
    ),
  }),
  ObjectDocument: object({
    id: swhid,
    title: text,
    updated: time,
    author: ref('Person'),
    generator: ref('Generator'),
    links: listOf(ref('Link')),
    swhid,
    object_type: { enum: ['content', 'directory', 'revision', 'snapshot'] },
    path: described(orNull(text), 'From the root of the directory, percent-encoded as in SWHIDs.'),
    length: described(orNull(count), 'Of a content, in bytes.'),
    mode: described(orNull(text), 'Of a content, as git writes it.'),
    lines: described(orNull(text), 'The part that was asked for.'),
    bytes: described(orNull(text), 'The part that was asked for.'),
    deposits: listOf(
      object({
        id: depositId,
        collection: text,
        status_iri: uri,
        origin_url: text,
        swhid_context: qualifiedSwhid,
      }),
    ),
  }),
};
