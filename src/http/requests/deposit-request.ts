import type { Context } from 'koa';
import { parseContentDisposition, requireFilename } from '../../sword/headers/content-disposition.ts';
import { parseContentMd5 } from '../../sword/headers/content-md5.ts';
import { bothDigests, type Digests, parseDigestField } from '../../sword/headers/digest-fields.ts';
import { parseIdempotencyKey } from '../../sword/headers/idempotency-key.ts';
import { parseInProgress } from '../../sword/headers/in-progress.ts';
import {
  isArchiveType,
  isEntryType,
  isMultipart,
  type MediaType,
  parseMediaType,
  TAR_TYPE,
} from '../../sword/headers/media-type.ts';
import { assertPackaging } from '../../sword/headers/packaging.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { parseSlug } from '../../sword/headers/slug.ts';
import { badRequest, quoted, SwordError } from '../../sword/sword-error.ts';

/** The headers of a write, parsed and well-formed. */
export type DepositRequest = {
  /** `null`: the header is absent. */
  readonly inProgress: boolean | null;
  readonly md5: string | null;
  /**
   * Digests of the body (`content`) and of the deposited bytes (`repr`); they differ only if an upload is named in
   * place of a body.
   */
  readonly digests: { readonly content: Digests; readonly repr: Digests };
  readonly slug: string | null;
  /** Number of bytes; `null` for a chunked body. */
  readonly declaredLength: number | null;
};

/** Parses the headers of a write. @throws {SwordError} 400 or 412: a header is malformed. */
export function parseDepositRequest({ req }: Context): DepositRequest {
  const { headers, method } = req;
  refuseTransferCodings(headers['transfer-encoding']);
  if (method === 'PUT' && headers['content-range'] !== undefined) throw partialPut(headers['content-range']);
  parseIdempotencyKey(headers['idempotency-key']);
  parseContentDisposition(headers['content-disposition']);
  return {
    inProgress: parseInProgress(headers['in-progress']),
    md5: parseContentMd5(headers['content-md5'], headers['content_md5']),
    digests: {
      content: parseDigestField('Content-Digest', headers['content-digest']),
      repr: parseDigestField('Repr-Digest', headers['repr-digest']),
    },
    slug: parseSlug(headers['slug']),
    declaredLength: declaredLength(headers),
  };
}

/** Builds the error for a PUT of a part (RFC 9110, 14.5), which would replace the whole by it. */
function partialPut(range: string): SwordError {
  return badRequest(
    `Content-Range ${quoted(range)} is not possible with PUT: send the whole, without the header.`,
  );
}

/** Returns the digests of a body that is deposited as it is. @throws {SwordError} 412: they contradict each other. */
export function digestsOf({ digests: { content, repr } }: Pick<DepositRequest, 'digests'>): Digests {
  return bothDigests(content, repr);
}

/** Returns whether the request has no body, by its headers. */
export function isEmpty({ req }: Context): boolean {
  return req.headers['transfer-encoding'] === undefined && (declaredLength(req.headers) ?? 0) === 0;
}

/** Returns the upload that the header `Upload` names in place of a body. */
export function namedUpload({ req }: Context): string | undefined {
  return headerText(req.headers['upload']);
}

/** Kind of a body, with its name and types. */
export type BodyKind =
  | { readonly kind: 'archive'; readonly mediaType: string; readonly filename: string }
  | { readonly kind: 'entry'; readonly charset: string | undefined }
  | { readonly kind: 'multipart'; readonly mediaType: MediaType }
  /** No body: a resumable upload is named instead. */
  | { readonly kind: 'upload'; readonly named: string };

export type Accepted = {
  /** Accepted media types of archives; empty where archives are not accepted. */
  readonly archives: readonly string[];
  readonly entry: boolean;
  /** Whether an entry may have no media type, as the interface lists no Content-Type for it. */
  readonly untypedEntry?: boolean;
  /** Accepted parts of a multipart body, if they differ from the accepted bodies. */
  readonly inMultipart?: Pick<Accepted, 'archives' | 'entry'>;
};

/** Classifies the body of a request. @throws {SwordError} 415: not accepted here; 400: an archive without a name. */
export function bodyKind(ctx: Context, accepted: Accepted): BodyKind {
  const { headers } = ctx.req;
  const named = namedUpload(ctx);
  if (named !== undefined) return { kind: 'upload', named };
  refuseContentCodings(headers['content-encoding']);
  assertPackaging(headers['packaging']);
  if (accepted.untypedEntry && headers['content-type'] === undefined)
    return { kind: 'entry', charset: undefined };
  if (headers['content-type'] === undefined && isEmpty(ctx)) {
    const needed = accepted.entry ? 'an archive or an Atom entry' : 'an archive';
    throw badRequest(`The body is empty where ${needed} is needed.`);
  }
  const mediaType = parseMediaType(headers['content-type']);
  if (isMultipart(mediaType)) return { kind: 'multipart', mediaType };
  if (accepted.entry && isEntryType(mediaType))
    return { kind: 'entry', charset: mediaType.parameters.get('charset') };
  if (isArchiveType(mediaType.type, accepted.archives)) {
    const filename = requireFilename(headers['content-disposition']);
    return { kind: 'archive', mediaType: mediaType.type, filename };
  }
  const types = [...partTypes(accepted), 'multipart/form-data', 'multipart/related'];
  throw unaccepted(headers['content-type'] ?? mediaType.type, types);
}

/** Returns the accepted media types of the parts of a multipart body. */
export function partTypes({ archives, entry }: Pick<Accepted, 'archives' | 'entry'>): readonly string[] {
  return entry ? [...archives, 'application/atom+xml;type=entry'] : archives;
}

/** Builds the error for a `Content-Type` that is not among the accepted media types. */
export function unaccepted(contentType: string, accepted: readonly string[]): SwordError {
  const tars = accepted.includes(TAR_TYPE) ? '; compressed tars wherever application/x-tar is' : '';
  return new SwordError('ErrorContent', `The media type ${quoted(contentType)} is not accepted here.`, {
    verboseDescription: `Accepted: ${accepted.join(', ')}${tars}.`,
  });
}

/** Refuses an archive by the declared length of its request, before any of it is received. */
export function assertArchiveWithin(declared: number | null, limit: number): void {
  if (declared === null || declared <= limit) return;
  throw archiveTooLarge(
    `The upload of ${declared} bytes is larger than the ${limit} bytes that are accepted.`,
  );
}

/** Builds the error for an archive over the limit. `text` is a sentence with the actual size and the limit. */
export function archiveTooLarge(text: string, cause?: Error): SwordError {
  const instead =
    'split it into several, or send it as a resumable upload (tus) where the service document has depositns:resumableUploads.';
  return new SwordError('MaxUploadSizeExceeded', `${text.replace(/\.$/, '')}: ${instead}`, { cause });
}

/** Refuses bodies in another coding than identity. @throws {SwordError} 400, 415 */
export function refuseCodings(headers: Context['req']['headers']): void {
  refuseTransferCodings(headers['transfer-encoding']);
  refuseContentCodings(headers['content-encoding']);
}

function declaredLength(headers: Context['req']['headers']): number | null {
  const text = headers['content-length'];
  return text === undefined ? null : Number(text); // Node accepts only digits
}

function refuseTransferCodings(codings: string | undefined): void {
  if (codings === undefined || codings.trim().toLowerCase() === 'chunked') return;
  throw badRequest(
    `Transfer-Encoding ${quoted(codings)} is not possible: send the body as it is, or chunked.`,
  );
}

function refuseContentCodings(codings: string | undefined): void {
  if (codings === undefined || /^(identity)?$/i.test(codings.trim())) return;
  throw new SwordError(
    'ErrorContent',
    `Content-Encoding ${quoted(codings)} is not accepted: send the bytes as they are.`,
    { headers: { 'Accept-Encoding': 'identity' } }, // RFC 9110, section 15.5.16
  );
}
