import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloEntry,
  helloTar,
  helloZip,
  md5Of,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { checksumOf, metadataOf, pieceHeaders, TUS } from '../../testing/http/tus-uploads.ts';

/** A request, as it is sent. */
export type Exchange = {
  readonly title: string;
  readonly method: string;
  /** `<upload>`, here and in headers, is the id of the upload that was begun last. */
  readonly path: string;
  /** The client of the request, `alice` by default. */
  readonly as?: 'alice' | 'bob' | 'nobody' | 'wrong';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The deposit and its status to wait for before the request. */
  readonly after?: { readonly deposit: number; readonly status: string };
};

const json = { Accept: 'application/json' };
const zip = { ...archiveHeaders(), 'Content-MD5': md5Of(helloZip) };
const form = formOf([archivePart(), entryPart()]);
const damagedZip = helloZip.subarray(0, -10);
const nested = 'http://purl.org/net/sword/package/METSDSpaceSIP';

/** Requests of clients, in order: every route, its answers and its refusals. */
export const EXCHANGES: readonly Exchange[] = [
  // Routes without credentials, and credentials.
  { title: 'the landing page', method: 'GET', path: '/', as: 'nobody' },
  { title: 'the service is alive', method: 'GET', path: '/health/live', as: 'nobody' },
  { title: 'the service is ready', method: 'GET', path: '/health/ready', as: 'nobody' },
  { title: 'without credentials', method: 'GET', path: '/1/servicedocument/', as: 'nobody' },
  { title: 'an unknown path without credentials', method: 'GET', path: '/nowhere', as: 'nobody' },
  { title: 'a wrong password', method: 'GET', path: '/1/servicedocument/', as: 'wrong' },
  { title: 'an unknown path', method: 'GET', path: '/nowhere' },
  { title: 'a path that cannot be decoded', method: 'GET', path: '/1/%ff/' },

  // The service document.
  { title: 'the service document', method: 'GET', path: '/1/servicedocument/' },
  { title: 'the service document of bob', method: 'GET', path: '/1/servicedocument/', as: 'bob' },
  { title: 'the service document as JSON', method: 'GET', path: '/1/servicedocument/', headers: json },
  { title: 'the service document of a collection', method: 'GET', path: '/1/servicedocument/software/' },
  { title: 'its head', method: 'HEAD', path: '/1/servicedocument/' },
  { title: 'a method that it has not', method: 'DELETE', path: '/1/servicedocument/' },
  { title: 'its options', method: 'OPTIONS', path: '/1/servicedocument/' },

  // A deposit in one request.
  {
    title: 'create from a form',
    method: 'POST',
    path: '/1/software/',
    headers: { ...formType, ...final },
    body: form,
  },
  {
    title: 'its receipt',
    method: 'GET',
    path: '/1/software/1/metadata/',
    after: { deposit: 1, status: 'done' },
  },
  { title: 'its receipt as JSON', method: 'GET', path: '/1/software/1/metadata/', headers: json },
  { title: 'its receipt where an existing client looks', method: 'GET', path: '/1/software/1/atom/' },
  { title: 'its status', method: 'GET', path: '/1/software/1/status/' },
  { title: 'its status as JSON', method: 'GET', path: '/1/software/1/status/', headers: json },
  {
    title: 'its status, unchanged',
    method: 'GET',
    path: '/1/software/1/status/',
    headers: { 'If-None-Match': '*' },
  },
  { title: 'its content', method: 'GET', path: '/1/software/1/content/' },
  { title: 'its content as JSON', method: 'GET', path: '/1/software/1/content/', headers: json },
  { title: 'its archive', method: 'GET', path: '/1/software/1/media/' },
  {
    title: 'a range of its archive',
    method: 'GET',
    path: '/1/software/1/media/',
    headers: { Range: 'bytes=0-3' },
  },
  {
    title: 'its archives as a feed',
    method: 'GET',
    path: '/1/software/1/media/',
    headers: { Accept: 'application/atom+xml' },
  },
  { title: 'its archives as JSON', method: 'GET', path: '/1/software/1/media/', headers: json },
  {
    title: 'a packaging that there is not',
    method: 'GET',
    path: '/1/software/1/media/',
    headers: { 'Accept-Packaging': nested },
  },
  { title: 'its first archive', method: 'GET', path: '/1/software/1/media/1/' },
  { title: 'an archive that it has not', method: 'GET', path: '/1/software/1/media/7/' },
  { title: 'its Statement', method: 'GET', path: '/1/software/1/statement/' },
  {
    title: 'its Statement as RDF',
    method: 'GET',
    path: '/1/software/1/statement/',
    headers: { Accept: 'application/rdf+xml' },
  },
  { title: 'its Statement as JSON', method: 'GET', path: '/1/software/1/statement/', headers: json },
  { title: 'its history', method: 'GET', path: '/1/software/1/history/' },
  { title: 'its history as JSON', method: 'GET', path: '/1/software/1/history/?from=3', headers: json },
  { title: 'its events, which have ended', method: 'GET', path: '/1/software/1/events/' },
  { title: 'its status, of another client', method: 'GET', path: '/1/software/1/status/', as: 'bob' },
  { title: 'a deposit that there is not', method: 'GET', path: '/1/software/99/status/' },
  { title: 'a deposit that is no number', method: 'GET', path: '/1/software/one/status/' },
  {
    title: 'a change of a deposit that is done',
    method: 'PUT',
    path: '/1/software/1/media/',
    headers: zip,
    body: helloZip,
  },
  { title: 'a deletion of a deposit that is done', method: 'DELETE', path: '/1/software/1/metadata/' },

  // A deposit in several requests.
  {
    title: 'create from an entry',
    method: 'POST',
    path: '/1/software/',
    headers: { ...entryHeaders(), ...partial, Slug: 'hello' },
    body: helloEntry,
  },
  {
    title: 'add an archive',
    method: 'POST',
    path: '/1/software/2/media/',
    headers: { ...zip, ...partial },
    body: helloZip,
  },
  {
    title: 'add another one',
    method: 'POST',
    path: '/1/software/2/media/',
    headers: { ...archiveHeaders('hello.tar', 'application/x-tar'), ...partial },
    body: helloTar,
  },
  { title: 'both as one zip, its head', method: 'HEAD', path: '/1/software/2/media/' },
  {
    title: 'replace the second archive',
    method: 'PUT',
    path: '/1/software/2/media/2/',
    headers: { ...zip, ...partial },
    body: helloZip,
  },
  { title: 'remove it', method: 'DELETE', path: '/1/software/2/media/2/', headers: partial },
  {
    title: 'replace all archives',
    method: 'PUT',
    path: '/1/software/2/media/',
    headers: { ...zip, ...partial },
    body: helloZip,
  },
  {
    title: 'add metadata',
    method: 'POST',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial },
    body: entryXml('<codemeta:version>1</codemeta:version>'),
  },
  {
    title: 'replace metadata',
    method: 'PUT',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial },
    body: helloEntry,
  },
  {
    title: 'a change on an old ETag',
    method: 'PUT',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial, 'If-Match': '"2-0"' },
    body: helloEntry,
  },
  {
    title: 'an entry that is no XML',
    method: 'PUT',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial },
    body: '<entry',
  },
  {
    title: 'an entry with a DOCTYPE',
    method: 'PUT',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial },
    body: '<!DOCTYPE a><entry xmlns="http://www.w3.org/2005/Atom"/>',
  },
  {
    title: 'an empty body',
    method: 'PUT',
    path: '/1/software/2/metadata/',
    headers: { ...entryHeaders(), ...partial },
    body: '',
  },
  {
    title: 'In-Progress that is neither',
    method: 'POST',
    path: '/1/software/2/metadata/',
    headers: { 'In-Progress': 'maybe' },
  },
  { title: 'complete it', method: 'POST', path: '/1/software/2/metadata/', headers: final },
  {
    title: 'its status when it is done',
    method: 'GET',
    path: '/1/software/2/status/',
    after: { deposit: 2, status: 'done' },
  },

  // Refusals of a creation.
  {
    title: 'an unknown collection',
    method: 'POST',
    path: '/1/elsewhere/',
    headers: { ...zip, ...final },
    body: helloZip,
  },
  {
    title: 'a collection of others',
    method: 'POST',
    path: '/1/software/',
    as: 'bob',
    headers: { ...zip, ...final },
    body: helloZip,
  },
  {
    title: 'a media type that is not accepted',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders('a.txt', 'text/plain'), ...final },
    body: 'text',
  },
  {
    title: 'bytes that are no zip',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders(), ...final },
    body: 'no zip',
  },
  {
    title: 'a wrong MD5',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...final, 'Content-MD5': md5Of('other') },
    body: helloZip,
  },
  {
    title: 'a malformed MD5',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...final, 'Content-MD5': 'x' },
    body: helloZip,
  },
  {
    title: 'no file name',
    method: 'POST',
    path: '/1/software/',
    headers: { 'Content-Type': 'application/zip', ...final },
    body: helloZip,
  },
  {
    title: 'a file name that is not ASCII',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders('h\u00e9.zip'), ...final },
    body: helloZip,
  },
  {
    title: 'on behalf of another',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...final, 'On-Behalf-Of': 'carol' },
    body: helloZip,
  },
  {
    title: 'a packaging that is not accepted',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...final, Packaging: nested },
    body: helloZip,
  },
  {
    title: 'more than is accepted',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders(), ...final },
    body: Buffer.alloc(70_000),
  },
  {
    title: 'a form without its end',
    method: 'POST',
    path: '/1/software/',
    headers: { ...formType, ...final },
    body: formOf([archivePart()], { open: true }),
  },
  {
    title: 'a form with two archives',
    method: 'POST',
    path: '/1/software/',
    headers: { ...formType, ...final },
    body: formOf([archivePart(), archivePart()]),
  },
  {
    title: 'a refusal as JSON',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders('a.txt', 'text/plain'), ...final, ...json },
    body: 'text',
  },

  // Rejected deposits, dry runs, keys.
  {
    title: 'create from a damaged zip',
    method: 'POST',
    path: '/1/software/',
    headers: { ...formType, ...final },
    body: formOf([archivePart(damagedZip), entryPart()]),
  },
  {
    title: 'its status when it is rejected',
    method: 'GET',
    path: '/1/software/3/status/',
    after: { deposit: 3, status: 'rejected' },
  },
  {
    title: 'create from an entry without an author',
    method: 'POST',
    path: '/1/software/',
    headers: { ...formType, ...final },
    body: formOf([archivePart(), entryPart(entryXml('<title>A</title>'))]),
  },
  {
    title: 'why it is rejected, as JSON',
    method: 'GET',
    path: '/1/software/4/status/',
    headers: json,
    after: { deposit: 4, status: 'rejected' },
  },
  {
    title: 'a dry run',
    method: 'POST',
    path: '/1/software/?dry-run=true',
    headers: { ...formType, ...final },
    body: form,
  },
  {
    title: 'a dry run of a damaged zip',
    method: 'POST',
    path: '/1/software/?dry-run=true',
    headers: { ...formType, ...final },
    body: formOf([archivePart(damagedZip), entryPart()]),
  },
  {
    title: 'create with a key',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...partial, 'Idempotency-Key': 'k1' },
    body: helloZip,
  },
  {
    title: 'the same again',
    method: 'POST',
    path: '/1/software/',
    headers: { ...zip, ...partial, 'Idempotency-Key': 'k1' },
    body: helloZip,
  },
  {
    title: 'the same key with other content',
    method: 'POST',
    path: '/1/software/',
    headers: { ...archiveHeaders(), ...partial, 'Idempotency-Key': 'k1' },
    body: damagedZip,
  },
  { title: 'delete a partial deposit', method: 'DELETE', path: '/1/software/5/metadata/' },
  { title: 'a deleted deposit', method: 'GET', path: '/1/software/5/metadata/' },

  // Archives in chunks.
  { title: 'what tus can', method: 'OPTIONS', path: '/1/software/uploads/', headers: TUS },
  {
    title: 'begin an upload',
    method: 'POST',
    path: '/1/software/uploads/',
    headers: {
      ...TUS,
      'Upload-Length': String(helloTar.length),
      ...metadataOf({ filename: 'hello.tar', filetype: 'application/x-tar' }),
    },
  },
  {
    title: 'a piece of it',
    method: 'PATCH',
    path: '/1/software/uploads/<upload>',
    headers: pieceHeaders(0),
    body: helloTar.subarray(0, 1000),
  },
  { title: 'where it is', method: 'HEAD', path: '/1/software/uploads/<upload>', headers: TUS },
  {
    title: 'a piece at another place',
    method: 'PATCH',
    path: '/1/software/uploads/<upload>',
    headers: pieceHeaders(0),
    body: helloTar.subarray(0, 1000),
  },
  {
    title: 'a piece with a wrong checksum',
    method: 'PATCH',
    path: '/1/software/uploads/<upload>',
    headers: { ...pieceHeaders(1000), ...checksumOf('sha1', Buffer.from('x')) },
    body: helloTar.subarray(1000),
  },
  {
    title: 'an upload that is not whole is named',
    method: 'POST',
    path: '/1/software/',
    headers: { Upload: '<upload>', ...partial },
  },
  {
    title: 'the rest of it',
    method: 'PATCH',
    path: '/1/software/uploads/<upload>',
    headers: { ...pieceHeaders(1000), ...checksumOf('sha1', helloTar.subarray(1000)) },
    body: helloTar.subarray(1000),
  },
  {
    title: 'create from the upload',
    method: 'POST',
    path: '/1/software/',
    headers: { Upload: '<upload>', ...partial },
  },
  {
    title: 'an upload is used once',
    method: 'POST',
    path: '/1/software/',
    headers: { Upload: '<upload>', ...partial },
  },
  { title: 'an upload that was used', method: 'HEAD', path: '/1/software/uploads/<upload>', headers: TUS },
  {
    title: 'another version of tus',
    method: 'POST',
    path: '/1/software/uploads/',
    headers: { 'Tus-Resumable': '0.1', 'Upload-Length': '1' },
  },
  {
    title: 'an upload that is too long',
    method: 'POST',
    path: '/1/software/uploads/',
    headers: { ...TUS, 'Upload-Length': '99999999999' },
  },
  { title: 'an upload without a length', method: 'POST', path: '/1/software/uploads/', headers: TUS },

  // Metadata alone, and lookups by identifier.
  {
    title: 'resolve a directory',
    method: 'GET',
    path: '/1/resolve/swh:1:dir:6a6ca1fba3ca8bb2ef3d3ee6b0c6e4b3bbf8ef1c/',
  },
  { title: 'resolve what is no identifier', method: 'GET', path: '/1/resolve/swh:2:dir:00/' },
  {
    title: 'metadata alone about an unknown directory',
    method: 'POST',
    path: '/1/software/',
    headers: { ...entryHeaders(), ...final },
    body: entryXml(
      `<title>A</title><author><name>Ada</name></author><d:deposit><d:reference><d:object swhid="swh:1:dir:${'0'.repeat(40)}"/></d:reference></d:deposit>`,
    ),
  },
  {
    title: 'update metadata of a deposit that is done',
    method: 'PUT',
    path: '/1/software/1/metadata/',
    headers: { ...entryHeaders(), 'X-Check-SWHID': `swh:1:dir:${'0'.repeat(40)}` },
    body: helloEntry,
  },

  // The list of deposits, notifications, events.
  {
    title: 'the list of deposits',
    method: 'GET',
    path: '/1/software/',
    after: { deposit: 6, status: 'partial' },
  },
  {
    title: 'the list as JSON, a page of two',
    method: 'GET',
    path: '/1/software/?page_size=2&page=2',
    headers: json,
  },
  { title: 'the rejected ones', method: 'GET', path: '/1/software/?status=rejected', headers: json },
  { title: 'a status that is none', method: 'GET', path: '/1/software/?status=lost' },
  { title: 'a page behind the last one', method: 'GET', path: '/1/software/?page=9' },
  { title: 'notifications of a client without a webhook', method: 'GET', path: '/1/software/notifications/' },
  {
    title: 'a token of events that is none',
    method: 'GET',
    path: '/1/software/events/',
    headers: { 'Last-Event-ID': 'x' },
  },
];
