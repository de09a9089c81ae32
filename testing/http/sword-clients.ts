import { md5Of } from './deposit-bodies.ts';

/** A body in `multipart/related` as a SWORD 2.0 client library builds it. */
export type RelatedBody = { readonly contentType: string; readonly body: Buffer };

type Deposited = { readonly entry: string; readonly archive: Buffer; readonly filename: string };

const ZIP = 'application/zip';
const PACKAGING = 'http://purl.org/net/sword/package/SimpleZip';
const ATOM = 'application/atom+xml; charset="utf-8"';
const BOUNDARY = '===========d8bb3ea6f4e0a4b4682be0cfb4e0a24e_$';

/**
 * Bodies of the Python client in the three forms of its releases: the first sends the entry unencoded; the second both
 * parts in base64, without declaring it for the entry; the third uses a mail library, with line feeds and the headers
 * of the whole as preamble. The PHP client sends no line break of its own after the entry.
 */
export const swordClients = {
  'first Python client': (deposited) => byHand(deposited, Buffer.from(deposited.entry)),
  'second Python client': (deposited) =>
    byHand(deposited, Buffer.from(Buffer.from(deposited.entry).toString('base64'))),
  'third Python client': byMailLibrary,
  'PHP client': byTemplate,
} as const satisfies Readonly<Record<string, (deposited: Deposited) => RelatedBody>>;

function byHand({ archive, filename }: Deposited, entry: Buffer): RelatedBody {
  const lines = [
    `--${BOUNDARY}`,
    `Content-Type: ${ATOM}`,
    'Content-Disposition: attachment; name="atom"',
    'MIME-Version: 1.0',
    '',
    entry.toString('latin1'),
    `--${BOUNDARY}`,
    `Content-Type: ${ZIP}`,
    `Content-Disposition: attachment; name="payload"; filename="${filename}"`,
    `Content-MD5: ${md5Of(archive)}`,
    `Packaging: ${PACKAGING}`,
    'MIME-Version: 1.0',
    'Content-Transfer-Encoding: base64',
    '',
    archive.toString('base64'),
    `--${BOUNDARY}--`,
    '',
  ];
  return {
    contentType: `multipart/related; boundary="${BOUNDARY}"; type="application/atom+xml"`,
    body: Buffer.from(lines.join('\r\n'), 'latin1'),
  };
}

function byMailLibrary({ entry, archive, filename }: Deposited): RelatedBody {
  const boundary = '===============5765132131371393313==';
  const lines = [
    `Content-Type: multipart/related; boundary="${boundary}"`,
    'MIME-Version: 1.0',
    '',
    `--${boundary}`,
    `Content-Type: ${ATOM}`,
    'MIME-Version: 1.0',
    'Content-Disposition: attachment; name="atom"',
    '',
    Buffer.from(entry).toString('latin1'),
    `--${boundary}`,
    `Content-Type: ${ZIP}`,
    'MIME-Version: 1.0',
    `Content-Disposition: attachment; name="payload"; filename="${filename}"`,
    `Content-MD5: ${md5Of(archive)}`,
    `Packaging: ${PACKAGING}`,
    'Content-Transfer-Encoding: base64',
    '',
    ...(archive.toString('base64').match(/.{1,76}/g) ?? []),
    `--${boundary}--`,
  ];
  return {
    contentType: `multipart/related; boundary="${boundary}"; type="application/atom+xml"`,
    body: Buffer.from(lines.join('\n'), 'latin1'),
  };
}

function byTemplate({ entry, archive, filename }: Deposited): RelatedBody {
  const boundary = '===============SWORDPARTS==';
  const lines = [
    '',
    'Media Post',
    `--${boundary}`,
    'Content-Type: application/atom+xml',
    'MIME-Version: 1.0',
    'Content-Disposition: attachment; name="atom"',
    '',
    `${Buffer.from(entry).toString('latin1')}\n--${boundary}`,
    `Content-Type: ${ZIP}`,
    `Content-MD5: ${md5Of(archive)}`,
    'MIME-Version: 1.0',
    `Content-Disposition: attachment; name="payload"; filename="${filename}"`,
    `Packaging: ${PACKAGING}`,
    'Content-Transfer-Encoding: base64',
    '',
    ...(archive.toString('base64').match(/.{1,76}/g) ?? []),
    `--${boundary}--`,
    '',
  ];
  return {
    contentType: `multipart/related; boundary="${boundary}"; type="application/atom+xml"`,
    body: Buffer.from(lines.join('\r\n'), 'latin1'),
  };
}
