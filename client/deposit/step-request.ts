import { randomUUID } from 'node:crypto';
import { SIMPLE_ZIP } from '../../src/sword/namespaces.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import type { Collection } from '../documents/service-document.ts';
import { bytesBody, fileBody } from '../http/bodies.ts';
import type { SentRequest } from '../http/connection.ts';
import { multipart, type Part } from '../http/multipart.ts';
import { archiveType } from './archive-type.ts';
import type { Entry } from './entry.ts';
import type { Step } from './plan.ts';

/** The request of a step, but for what makes it repeatable. */
export function requestOf(
  step: Step,
  collection: Collection,
  slug: string | undefined,
): Pick<SentRequest, 'headers' | 'body'> {
  const common = { 'In-Progress': String(!step.final), 'Idempotency-Key': randomUUID() };
  switch (step.kind) {
    case 'create': {
      const slugged = { ...common, ...(slug !== undefined && { Slug: encodeURIComponent(slug) }) };
      return withHeaders(slugged, creation(step.archive, step.entry, collection));
    }
    case 'add-archive':
    case 'replace-archives':
      return withHeaders(common, archiveRequest(step.archive, collection));
    case 'add-metadata':
    case 'replace-metadata':
      return withHeaders(common, entryRequest(step.entry));
    default:
      return step satisfies never;
  }
}

type Request = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: NonNullable<SentRequest['body']>;
};

function withHeaders(more: Readonly<Record<string, string>>, { headers, body }: Request): Request {
  return { headers: { ...headers, ...more }, body };
}

/** An archive and an entry go in one body, the entry first: what is wrong with it is told before the archive is sent. */
function creation(archive: PreparedArchive | null, entry: Entry | null, collection: Collection): Request {
  if (archive && entry) return formRequest(archive, entry, collection);
  return archive ? archiveRequest(archive, collection) : entryRequest(entry!); // one of them is there: see `assertSensible`
}

function archiveRequest(archive: PreparedArchive, collection: Collection): Request {
  const headers = {
    'Content-Type': archiveType(archive.format, collection),
    'Content-Disposition': `attachment; filename="${archive.filename}"`,
    'Content-MD5': archive.md5,
    Packaging: SIMPLE_ZIP,
  };
  return { headers, body: fileBody(archive) };
}

function entryRequest({ bytes, contentType }: Entry): Request {
  const headers = { 'Content-Type': contentType, 'Content-Disposition': 'attachment; name="atom"' };
  return { headers, body: bytesBody(bytes) };
}

function formRequest(archive: PreparedArchive, entry: Entry, collection: Collection): Request {
  const file = archiveRequest(archive, collection);
  const parts: Part[] = [
    {
      headers: {
        'Content-Disposition': 'form-data; name="atom"; filename="atom.xml"',
        'Content-Type': entry.contentType,
      },
      body: bytesBody(entry.bytes),
    },
    {
      headers: {
        'Content-Disposition': `form-data; name="file"; filename="${archive.filename}"`,
        'Content-Type': file.headers['Content-Type'] ?? '',
      },
      body: file.body,
    },
  ];
  const { contentType, body } = multipart(parts);
  return { headers: { 'Content-Type': contentType, 'Content-MD5': archive.md5 }, body };
}
