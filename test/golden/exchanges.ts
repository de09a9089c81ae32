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
  helloForm,
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

/** `line` is such as `GET /path`. */
function request(
  title: string,
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string | Buffer,
): Exchange {
  const [method = '', path = ''] = line.split(' ');
  return { title, method, path, headers, ...(body !== undefined && { body }) };
}

function as(client: NonNullable<Exchange['as']>, exchange: Exchange): Exchange {
  return { ...exchange, as: client };
}

/** Waits for the status of a deposit before the request. */
function after(deposit: number, status: string, exchange: Exchange): Exchange {
  return { ...exchange, after: { deposit, status } };
}

const json = { Accept: 'application/json' };
const zip = { ...archiveHeaders(), 'Content-MD5': md5Of(helloZip) };
const partialZip = { ...zip, ...partial };
const finalZip = { ...zip, ...final };
const partialEntry = { ...entryHeaders(), ...partial };
const finalForm = { ...formType, ...final };
const damagedZip = helloZip.subarray(0, -10);
const nested = 'http://purl.org/net/sword/package/METSDSpaceSIP';

/** Requests of clients, in order: every route, its answers and its refusals. */
export const EXCHANGES: readonly Exchange[] = [
  // Routes without credentials, and credentials.
  as('nobody', request('the landing page', 'GET /')),
  as('nobody', request('the service is alive', 'GET /health/live')),
  as('nobody', request('the service is ready', 'GET /health/ready')),
  as('nobody', request('without credentials', 'GET /1/servicedocument/')),
  as('nobody', request('an unknown path without credentials', 'GET /nowhere')),
  as('wrong', request('a wrong password', 'GET /1/servicedocument/')),
  request('an unknown path', 'GET /nowhere'),
  request('a path that cannot be decoded', 'GET /1/%ff/'),

  // The service document.
  request('the service document', 'GET /1/servicedocument/'),
  as('bob', request('the service document of bob', 'GET /1/servicedocument/')),
  request('the service document as JSON', 'GET /1/servicedocument/', json),
  request('the service document of a collection', 'GET /1/servicedocument/software/'),
  request('its head', 'HEAD /1/servicedocument/'),
  request('a method that it has not', 'DELETE /1/servicedocument/'),
  request('its options', 'OPTIONS /1/servicedocument/'),

  // A deposit in one request.
  request('create from a form', 'POST /1/software/', finalForm, helloForm),
  after(1, 'done', request('its receipt', 'GET /1/software/1/metadata/')),
  request('its receipt as JSON', 'GET /1/software/1/metadata/', json),
  request('its receipt where an existing client looks', 'GET /1/software/1/atom/'),
  request('its status', 'GET /1/software/1/status/'),
  request('its status as JSON', 'GET /1/software/1/status/', json),
  request('its status, unchanged', 'GET /1/software/1/status/', { 'If-None-Match': '*' }),
  request('its content', 'GET /1/software/1/content/'),
  request('its content as JSON', 'GET /1/software/1/content/', json),
  request('its archive', 'GET /1/software/1/media/'),
  request('a range of its archive', 'GET /1/software/1/media/', { Range: 'bytes=0-3' }),
  request('its archives as a feed', 'GET /1/software/1/media/', { Accept: 'application/atom+xml' }),
  request('its archives as JSON', 'GET /1/software/1/media/', json),
  request('a packaging that there is not', 'GET /1/software/1/media/', { 'Accept-Packaging': nested }),
  request('its first archive', 'GET /1/software/1/media/1/'),
  request('an archive that it has not', 'GET /1/software/1/media/7/'),
  request('its Statement', 'GET /1/software/1/statement/'),
  request('its Statement as RDF', 'GET /1/software/1/statement/', { Accept: 'application/rdf+xml' }),
  request('its Statement as JSON', 'GET /1/software/1/statement/', json),
  request('its history', 'GET /1/software/1/history/'),
  request('its history as JSON', 'GET /1/software/1/history/?from=3', json),
  request('its events, which have ended', 'GET /1/software/1/events/'),
  as('bob', request('its status, of another client', 'GET /1/software/1/status/')),
  request('a deposit that there is not', 'GET /1/software/99/status/'),
  request('a deposit that is no number', 'GET /1/software/one/status/'),
  request('a change of a deposit that is done', 'PUT /1/software/1/media/', zip, helloZip),
  request('a deletion of a deposit that is done', 'DELETE /1/software/1/metadata/'),

  // A deposit in several requests.
  request('create from an entry', 'POST /1/software/', { ...partialEntry, Slug: 'hello' }, helloEntry),
  request('add an archive', 'POST /1/software/2/media/', partialZip, helloZip),
  request(
    'add another one',
    'POST /1/software/2/media/',
    { ...archiveHeaders('hello.tar', 'application/x-tar'), ...partial },
    helloTar,
  ),
  request('both as one zip, its head', 'HEAD /1/software/2/media/'),
  request('replace the second archive', 'PUT /1/software/2/media/2/', partialZip, helloZip),
  request('remove it', 'DELETE /1/software/2/media/2/', partial),
  request('replace all archives', 'PUT /1/software/2/media/', partialZip, helloZip),
  request(
    'add metadata',
    'POST /1/software/2/metadata/',
    partialEntry,
    entryXml('<codemeta:version>1</codemeta:version>'),
  ),
  request('replace metadata', 'PUT /1/software/2/metadata/', partialEntry, helloEntry),
  request(
    'a change on an old ETag',
    'PUT /1/software/2/metadata/',
    { ...partialEntry, 'If-Match': '"2-0"' },
    helloEntry,
  ),
  request('an entry that is no XML', 'PUT /1/software/2/metadata/', partialEntry, '<entry'),
  request(
    'an entry with a DOCTYPE',
    'PUT /1/software/2/metadata/',
    partialEntry,
    '<!DOCTYPE a><entry xmlns="http://www.w3.org/2005/Atom"/>',
  ),
  request('an empty body', 'PUT /1/software/2/metadata/', partialEntry, ''),
  request('In-Progress that is neither', 'POST /1/software/2/metadata/', { 'In-Progress': 'maybe' }),
  request('complete it', 'POST /1/software/2/metadata/', final),
  after(2, 'done', request('its status when it is done', 'GET /1/software/2/status/')),

  // Refusals of a creation.
  request('an unknown collection', 'POST /1/elsewhere/', finalZip, helloZip),
  as('bob', request('a collection of others', 'POST /1/software/', finalZip, helloZip)),
  request(
    'a media type that is not accepted',
    'POST /1/software/',
    { ...archiveHeaders('a.txt', 'text/plain'), ...final },
    'text',
  ),
  request('bytes that are no zip', 'POST /1/software/', { ...archiveHeaders(), ...final }, 'no zip'),
  request('a wrong MD5', 'POST /1/software/', { ...finalZip, 'Content-MD5': md5Of('other') }, helloZip),
  request('a malformed MD5', 'POST /1/software/', { ...finalZip, 'Content-MD5': 'x' }, helloZip),
  request('no file name', 'POST /1/software/', { 'Content-Type': 'application/zip', ...final }, helloZip),
  request(
    'a file name that is not ASCII',
    'POST /1/software/',
    { ...archiveHeaders('h\u00e9.zip'), ...final },
    helloZip,
  ),
  request('on behalf of another', 'POST /1/software/', { ...finalZip, 'On-Behalf-Of': 'carol' }, helloZip),
  request(
    'a packaging that is not accepted',
    'POST /1/software/',
    { ...finalZip, Packaging: nested },
    helloZip,
  ),
  request(
    'more than is accepted',
    'POST /1/software/',
    { ...archiveHeaders(), ...final },
    Buffer.alloc(70_000),
  ),
  request('a form without its end', 'POST /1/software/', finalForm, formOf([archivePart()], { open: true })),
  request('a form with two archives', 'POST /1/software/', finalForm, formOf([archivePart(), archivePart()])),
  request(
    'a refusal as JSON',
    'POST /1/software/',
    { ...archiveHeaders('a.txt', 'text/plain'), ...final, ...json },
    'text',
  ),

  // Rejected deposits, dry runs, keys.
  request(
    'create from a damaged zip',
    'POST /1/software/',
    finalForm,
    formOf([archivePart(damagedZip), entryPart()]),
  ),
  after(3, 'rejected', request('its status when it is rejected', 'GET /1/software/3/status/')),
  request(
    'create from an entry without an author',
    'POST /1/software/',
    finalForm,
    formOf([archivePart(), entryPart(entryXml('<title>A</title>'))]),
  ),
  after(4, 'rejected', request('why it is rejected, as JSON', 'GET /1/software/4/status/', json)),
  request('a dry run', 'POST /1/software/?dry-run=true', finalForm, helloForm),
  request(
    'a dry run of a damaged zip',
    'POST /1/software/?dry-run=true',
    finalForm,
    formOf([archivePart(damagedZip), entryPart()]),
  ),
  request('create with a key', 'POST /1/software/', { ...partialZip, 'Idempotency-Key': 'k1' }, helloZip),
  request('the same again', 'POST /1/software/', { ...partialZip, 'Idempotency-Key': 'k1' }, helloZip),
  request(
    'the same key with other content',
    'POST /1/software/',
    { ...archiveHeaders(), ...partial, 'Idempotency-Key': 'k1' },
    damagedZip,
  ),
  request('delete a partial deposit', 'DELETE /1/software/5/metadata/'),
  request('a deleted deposit', 'GET /1/software/5/metadata/'),

  // Archives in chunks.
  request('what tus can', 'OPTIONS /1/software/uploads/', TUS),
  request('begin an upload', 'POST /1/software/uploads/', {
    ...TUS,
    'Upload-Length': String(helloTar.length),
    ...metadataOf({ filename: 'hello.tar', filetype: 'application/x-tar' }),
  }),
  request('a piece of it', 'PATCH /1/software/uploads/<upload>', pieceHeaders(0), helloTar.subarray(0, 1000)),
  request('where it is', 'HEAD /1/software/uploads/<upload>', TUS),
  request(
    'a piece at another place',
    'PATCH /1/software/uploads/<upload>',
    pieceHeaders(0),
    helloTar.subarray(0, 1000),
  ),
  request(
    'a piece with a wrong checksum',
    'PATCH /1/software/uploads/<upload>',
    { ...pieceHeaders(1000), ...checksumOf('sha1', Buffer.from('x')) },
    helloTar.subarray(1000),
  ),
  request('an upload that is not whole is named', 'POST /1/software/', { Upload: '<upload>', ...partial }),
  request(
    'the rest of it',
    'PATCH /1/software/uploads/<upload>',
    { ...pieceHeaders(1000), ...checksumOf('sha1', helloTar.subarray(1000)) },
    helloTar.subarray(1000),
  ),
  request('create from the upload', 'POST /1/software/', { Upload: '<upload>', ...partial }),
  request('an upload is used once', 'POST /1/software/', { Upload: '<upload>', ...partial }),
  request('an upload that was used', 'HEAD /1/software/uploads/<upload>', TUS),
  request('another version of tus', 'POST /1/software/uploads/', {
    'Tus-Resumable': '0.1',
    'Upload-Length': '1',
  }),
  request('an upload that is too long', 'POST /1/software/uploads/', {
    ...TUS,
    'Upload-Length': '99999999999',
  }),
  request('an upload without a length', 'POST /1/software/uploads/', TUS),

  // Metadata alone, and lookups by identifier.
  request('resolve a directory', 'GET /1/resolve/swh:1:dir:6a6ca1fba3ca8bb2ef3d3ee6b0c6e4b3bbf8ef1c/'),
  request('resolve what is no identifier', 'GET /1/resolve/swh:2:dir:00/'),
  request(
    'metadata alone about an unknown directory',
    'POST /1/software/',
    { ...entryHeaders(), ...final },
    entryXml(
      `<title>A</title><author><name>Ada</name></author><d:deposit><d:reference><d:object swhid="swh:1:dir:${'0'.repeat(40)}"/></d:reference></d:deposit>`,
    ),
  ),
  request(
    'update metadata of a deposit that is done',
    'PUT /1/software/1/metadata/',
    { ...entryHeaders(), 'X-Check-SWHID': `swh:1:dir:${'0'.repeat(40)}` },
    helloEntry,
  ),

  // The list of deposits, notifications, events.
  after(6, 'partial', request('the list of deposits', 'GET /1/software/')),
  request('the list as JSON, a page of two', 'GET /1/software/?page_size=2&page=2', json),
  request('the rejected ones', 'GET /1/software/?status=rejected', json),
  request('a status that is none', 'GET /1/software/?status=lost'),
  request('a page behind the last one', 'GET /1/software/?page=9'),
  request('notifications of a client without a webhook', 'GET /1/software/notifications/'),
  request('a token of events that is none', 'GET /1/software/events/', { 'Last-Event-ID': 'x' }),
];
