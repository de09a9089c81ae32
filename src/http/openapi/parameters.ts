import { STATUSES } from '../../domain/deposit/status-detail.ts';
import { PACKAGINGS } from '../../sword/headers/packaging.ts';
import { CHECKSUM_ALGORITHMS } from '../../uploads/checksum.ts';
import { MAX_PAGE_SIZE, PAGE_SIZE } from '../answering/deposit-query.ts';
import { TUS_VERSION } from '../receiving/tus-headers.ts';
import type { Json } from './operation.ts';

type Place = 'path' | 'query' | 'header';
type Parameter = Readonly<{ name: string; in: Place; description: string; required?: boolean; schema: Json }>;

const DEPOSIT_ID: Json = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const TEXT: Json = { type: 'string' };
const BYTES: Json = { type: 'integer', minimum: 0 };
const SWHID: Json = { type: 'string', pattern: '^swh:1:(cnt|dir|rev|snp|rel):[0-9a-f]{40}(;.*)?$' };

/** What requests say beside their body. `Accept`, `Authorization` and `Content-Type` OpenAPI has in other places. */
export const PARAMETERS = {
  collection: inPath('collection', 'Name of a collection that is granted to the client.', TEXT),
  deposit: inPath('deposit', 'Id of a deposit of the client in this collection.', DEPOSIT_ID),
  file: inPath('file', 'Number of an archive within the deposit, for good.', { type: 'integer', minimum: 1 }),
  upload: inPath('upload', 'Id of an upload of the client in this collection.', {
    type: 'string',
    format: 'uuid',
  }),
  swhid: inPath(
    'swhid',
    'A SWHID, with or without qualifiers; as it is, or percent-encoded as a whole.',
    SWHID,
  ),

  page: inQuery('page', 'Which page, from 1; one behind the last is 404.', {
    type: 'integer',
    minimum: 1,
    default: 1,
  }),
  pageSize: inQuery('page_size', `Deposits on a page; more than ${MAX_PAGE_SIZE} is taken for that.`, {
    type: 'integer',
    minimum: 1,
    default: PAGE_SIZE,
  }),
  status: inQuery('status', 'Only deposits in this status.', { enum: STATUSES }),
  origin: inQuery('origin', 'Only deposits from this origin: its versions.', TEXT),
  below: inQuery('below', 'In links: only deposits with smaller ids.', DEPOSIT_ID),
  above: inQuery('above', 'In links: only deposits with larger ids; not together with below.', DEPOSIT_ID),
  dryRun: inQuery('dry-run', 'Answer what would become of the deposit, and keep nothing.', {
    type: 'boolean',
    default: false,
  }),
  from: inQuery('from', 'Number of the event that the page begins with, from 0.', {
    type: 'integer',
    minimum: 0,
    default: 0,
  }),

  inProgress: inHeader('In-Progress', 'Whether more comes. Absent: nothing more, the deposit is final.', {
    enum: ['true', 'false'],
  }),
  inProgressOfArchives: inHeader(
    'In-Progress',
    'Whether more comes; false completes the deposit. Absent: unchanged.',
    { enum: ['true', 'false'] },
  ),
  contentMd5: inHeader(
    'Content-MD5',
    'MD5 of the archive or entry, 32 hex digits or base64; of a multipart body that of its archive. Also as CONTENT_MD5.',
    TEXT,
  ),
  contentDigest: inHeader('Content-Digest', 'sha-256, sha-512 of the body (RFC 9530).', TEXT),
  reprDigest: inHeader('Repr-Digest', 'The same; with Upload of the archive that it names.', TEXT),
  contentDisposition: inHeader(
    'Content-Disposition',
    'Names the archive: filename, printable ASCII, at most 255 characters. Needed with an archive as body.',
    TEXT,
  ),
  packaging: inHeader('Packaging', 'Packaging of the archive.', { enum: PACKAGINGS }),
  slug: inHeader(
    'Slug',
    'Percent-encoded; becomes the end of the origin URL where the entry names none.',
    TEXT,
  ),
  onBehalfOf: inHeader(
    'On-Behalf-Of',
    'Mediation is not possible: whatever it names is refused with 412.',
    TEXT,
  ),
  idempotencyKey: inHeader(
    'Idempotency-Key',
    'Repeated with the same content, the request is answered like the first time, and nothing happens twice.',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  ),
  namedUpload: inHeader('Upload', 'IRI or id of an upload that is whole, in place of a body.', TEXT),
  checkSwhid: inHeader(
    'X-Check-SWHID',
    'The identifier of a deposit that is done: metadata are added to it instead of replaced.',
    SWHID,
  ),
  ifMatch: inHeader('If-Match', 'The ETag that the deposit still has to have.', TEXT),
  ifNoneMatch: inHeader(
    'If-None-Match',
    'The ETag that the client holds: 304 if it is still the one, 412 to what would change it.',
    TEXT,
  ),
  acceptPackaging: inHeader('Accept-Packaging', 'In which packaging the archives are wanted.', {
    enum: PACKAGINGS,
  }),
  lastEventId: inHeader('Last-Event-ID', 'The last id that was told: resumes behind it.', TEXT),

  tusResumable: inHeader('Tus-Resumable', 'The version of tus.', { const: TUS_VERSION }, true),
  uploadLength: inHeader('Upload-Length', 'Bytes that the upload will have.', BYTES, true),
  uploadOffset: inHeader('Upload-Offset', 'Bytes that are there: where these go on.', BYTES, true),
  uploadMetadata: inHeader(
    'Upload-Metadata',
    'Keys with their values in base64, between commas; filename and filetype are used.',
    TEXT,
  ),
  uploadChecksum: inHeader(
    'Upload-Checksum',
    `${CHECKSUM_ALGORITHMS.join(', ')}, a blank, and the digest of these bytes in base64.`,
    TEXT,
  ),
  methodOverride: inHeader('X-HTTP-Method-Override', 'The method that is meant instead.', TEXT),
} as const satisfies Readonly<Record<string, Parameter>>;

export type ParameterName = keyof typeof PARAMETERS;

function inPath(name: string, description: string, schema: Json): Parameter {
  return { name, in: 'path', description, required: true, schema };
}

function inQuery(name: string, description: string, schema: Json): Parameter {
  return { name, in: 'query', description, schema };
}

function inHeader(name: string, description: string, schema: Json, required = false): Parameter {
  return { name, in: 'header', description, required, schema };
}
