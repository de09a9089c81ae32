import { SIMPLE_ZIP } from '../../src/sword/namespaces.ts';
import { random } from '../../src/tools/random.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Collection } from '../documents/service-document.ts';
import { bytesBody, fileBody } from '../http/bodies.ts';
import type { Body } from '../http/exchange.ts';
import { type MultipartType, multipart, type Part } from '../http/multipart.ts';
import { archiveType } from './archive-limits.ts';
import type { Entry } from './entry.ts';
import type { Step } from './plan.ts';

/** The request of a step, without what makes it repeatable. */
export type StepRequest = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
};

export type StepRequestOptions = {
  readonly collection: Collection;
  readonly slug?: string | undefined;
  /** IRI of the upload that becomes the archive of the step. */
  readonly upload: string | null;
  /** Equal in all requests that may be repetitions of one; by default, another one for each. */
  readonly key?: string;
  /** Form of a request with an archive and an entry. */
  readonly multipart?: MultipartType;
};

export function requestOf(step: Step, options: StepRequestOptions): StepRequest {
  const { headers, body } = contentOf(step, options);
  const slug = step.action === 'create' ? options.slug : undefined;
  return {
    headers: {
      ...headers,
      'In-Progress': String(!step.final),
      'Idempotency-Key': options.key ?? random.uuid(),
      ...(slug !== undefined && { Slug: encodeURIComponent(slug) }),
    },
    body,
  };
}

function contentOf({ archive, entry }: Step, options: StepRequestOptions): StepRequest {
  if (archive && entry) return multipartRequest(archive, entry, options);
  return archive ? archiveRequest(archive, options) : entryRequest(entry!); // a step has one of them
}

function archiveRequest(archive: PreparedArchive, { collection, upload }: StepRequestOptions): StepRequest {
  const headers = {
    'Content-Type': archiveType(archive.format, collection),
    'Content-Disposition': `attachment; filename="${archive.filename}"`,
    'Content-MD5': archive.md5,
    Packaging: SIMPLE_ZIP,
  };
  return upload === null
    ? { headers, body: fileBody(archive) }
    : { headers: { ...headers, Upload: upload }, body: undefined };
}

function entryRequest({ bytes, contentType }: Entry): StepRequest {
  const headers = { 'Content-Type': contentType, 'Content-Disposition': 'attachment; name="atom"' };
  return { headers, body: bytesBody(bytes) };
}

/**
 * Returns one request with an archive and an entry. The entry is first, so that the server refuses it before the
 * archive is sent.
 */
function multipartRequest(
  archive: PreparedArchive,
  entry: Entry,
  { collection, multipart: type = 'form-data' }: StepRequestOptions,
): StepRequest {
  const mediaType = archiveType(archive.format, collection);
  const filename = `filename="${archive.filename}"`;
  const [atom, file] =
    type === 'related'
      ? ['attachment; name="atom"', `attachment; name="payload"; ${filename}`]
      : ['form-data; name="atom"; filename="atom.xml"', `form-data; name="file"; ${filename}`];
  // A form has the digest of the archive in the headers of the whole, SWORD 2.0 in those of its part.
  const digest = { 'Content-MD5': archive.md5 };
  const ofPart = type === 'related' ? { ...digest, Packaging: SIMPLE_ZIP } : {};
  const parts: Part[] = [
    {
      headers: { 'Content-Disposition': atom, 'Content-Type': entry.contentType },
      body: bytesBody(entry.bytes),
    },
    {
      headers: { 'Content-Disposition': file, 'Content-Type': mediaType, ...ofPart },
      body: fileBody(archive),
    },
  ];
  const { contentType, body } = multipart(type, parts);
  return { headers: { 'Content-Type': contentType, ...(type === 'form-data' && digest) }, body };
}
