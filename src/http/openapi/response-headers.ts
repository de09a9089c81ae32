import type { Json } from './operation.ts';

const text = (description: string, required = true): Json => ({
  description,
  required,
  schema: { type: 'string' },
});

const uri = (description: string): Json => ({
  description,
  required: true,
  schema: { type: 'string', format: 'uri' },
});

const number = (description: string, required = true): Json => ({
  description,
  required,
  schema: { type: 'integer', minimum: 0 },
});

/** Headers of answers. Those that are not required come only where their description says so. */
export const RESPONSE_HEADERS = {
  ETag: text('The deposit at one revision; for If-Match and If-None-Match.'),
  ETagOfBytes: text('Of bytes; for If-None-Match.', false),
  Location: uri('The IRI that the write was about.'),
  Allow: text('The methods that are possible in the present state.'),
  Link: text('Where the description of the service is: rel="service-desc".'),
  PageLinks: text('first, previous, next and last, where there are such pages (RFC 8288).'),
  RetryAfter: number('Seconds after which to try again.'),
  RetryWhileOnItsWay: number('Seconds after which to ask again; none when the status is final.', false),
  Authenticate: text('Basic.'),
  Packaging: { ...uri('The packaging, of bytes.'), required: false },
  ContentDisposition: text('attachment, with the file name.'),
  ContentDispositionOfBytes: text('attachment, with the file name; of bytes.', false),
  ReprDigest: text(
    'sha-256, and md5 where the client has told it (RFC 9530); none of a zip made on the way.',
    false,
  ),
  ContentDigest: text('The same of the bytes that come.', false),
  TusResumable: text('The version of tus.'),
  TusResumableOfRefusal: text('The version of tus, unless the request could not even be read.', false),
  TusVersion: text('The versions of tus that are spoken.'),
  TusVersionOfRefusal: text('The versions of tus that are spoken, where that is why.', false),
  TusExtension: text('The extensions of tus that there are.'),
  TusMaxSize: number('Bytes that an upload may have.', false),
  TusChecksumAlgorithm: text('What Upload-Checksum may be made with.'),
  UploadOffset: number('Bytes that are there for good.'),
  UploadOffsetOfPiece: number('Bytes that are there for good, when some came with the request.', false),
  UploadLength: number('Bytes that the upload will have.'),
  UploadExpires: text('When the upload is removed if nothing more comes.'),
  UploadMetadata: text('What was said when the upload began, if anything was.', false),
  XAccelBuffering: text('no: proxies are not to hold events back.'),
  EditLink: text(
    'rel="edit": the deposit that a named upload has become an archive of, where that is why.',
    false,
  ),
} as const satisfies Readonly<Record<string, Json>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;

/** The name on the wire, where the same header means different things in different answers. */
const NAMES: Partial<Record<ResponseHeaderName, string>> = {
  PageLinks: 'Link',
  EditLink: 'Link',
  ETagOfBytes: 'ETag',
  TusResumableOfRefusal: 'Tus-Resumable',
  TusVersionOfRefusal: 'Tus-Version',
  XAccelBuffering: 'X-Accel-Buffering',
  RetryAfter: 'Retry-After',
  RetryWhileOnItsWay: 'Retry-After',
  Authenticate: 'WWW-Authenticate',
  ContentDispositionOfBytes: 'Content-Disposition',
  UploadOffsetOfPiece: 'Upload-Offset',
};

/** What an answer says of its headers. */
export function headerRefs(names: readonly ResponseHeaderName[]): Json {
  return Object.fromEntries(
    names.map((name) => [
      NAMES[name] ?? (name === 'ETag' ? name : name.replace(/(?<=[a-z])(?=[A-Z])/g, '-')),
      { $ref: `#/components/headers/${name}` },
    ]),
  );
}
