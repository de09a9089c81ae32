import { createHash } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { DOCUMENT_OFFERS, FACTS_OFFERS, negotiate, PAGE } from '../../src/sword/headers/accept.ts';
import { parseAcceptPackaging } from '../../src/sword/headers/accept-packaging.ts';
import {
  attachment,
  parseContentDisposition,
  requireFilename,
} from '../../src/sword/headers/content-disposition.ts';
import { parseContentMd5 } from '../../src/sword/headers/content-md5.ts';
import { bothDigests, digestField, parseDigestField } from '../../src/sword/headers/digest-fields.ts';
import { assertMatches, entityTag, isNotModified } from '../../src/sword/headers/entity-tag.ts';
import { parseIdempotencyKey } from '../../src/sword/headers/idempotency-key.ts';
import { parseInProgress } from '../../src/sword/headers/in-progress.ts';
import { isArchiveType, isEntryType, parseMediaType } from '../../src/sword/headers/media-type.ts';
import { refuseMediation } from '../../src/sword/headers/on-behalf-of.ts';
import { assertPackaging } from '../../src/sword/headers/packaging.ts';
import { parseSlug, refuseBidiControls } from '../../src/sword/headers/slug.ts';
import { SwordError, type SwordErrorCode } from '../../src/sword/sword-error.ts';

function refused(
  t: ExecutionContext,
  code: SwordErrorCode,
  attempt: () => unknown,
  what?: string,
): SwordError {
  const error = t.throws(attempt, { instanceOf: SwordError }, what);
  t.is(error.code, code, what);
  t.regex(error.summary, /^[A-Z].*\.$/, what);
  return error;
}

function negotiateDocument(accept: string | undefined) {
  return negotiate(DOCUMENT_OFFERS, accept);
}

test('a file name is found in all header forms that clients send', (t) => {
  const cases = [
    ['attachment; filename=orbitals.zip', 'orbitals.zip'],
    ['attachment; filename="orbitals.zip"', 'orbitals.zip'],
    ['ATTACHMENT;FileName = "orbitals.zip" ;', 'orbitals.zip'],
    ['attachment; filename=my orbitals 1.0.zip', 'my orbitals 1.0.zip'],
    ['attachment; filename=my orbitals.zip ; size=3', 'my orbitals.zip'],
    ['filename=orbitals.zip', 'orbitals.zip'],
    ['filename="a;b=c.zip"', 'a;b=c.zip'],
    ['; filename=orbitals.zip', 'orbitals.zip'],
    ['attachment;; filename=orbitals.zip;', 'orbitals.zip'],
    ['form-data; name="file"; filename="a \\"b\\".zip"', 'a "b".zip'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename=/abs/olute.zip', 'olute.zip'],
    ['attachment; filename="C:\\temp\\new.zip"', 'new.zip'],
    ['attachment; filename="C:\\\\temp\\\\new.zip"', 'new.zip'],
    ['attachment; filename=C:\\temp\\new.zip', 'new.zip'],
    ["attachment; filename=x.zip; filename*=UTF-8''my%20orbitals.zip", 'my orbitals.zip'],
    ["attachment; filename=cafe.zip; filename*=UTF-8''caf%C3%A9.zip", 'café.zip'],
    ["attachment; filename*=UTF-8''caf%C3%A9.zip", 'café.zip'],
    ["attachment; filename*=iso-8859-1''caf%E9.zip", 'café.zip'],
    ["attachment; filename*=us-ascii''my%20cafe.zip", 'my cafe.zip'],
    [`attachment; filename*=UTF-8''${'%C3%A9'.repeat(127)}`, 'é'.repeat(127)],
    ["attachment; filename*=iso-8859-1'en'..%2Fa.zip", 'a.zip'],
    // Persian with a non-joiner, and an emoji sequence.
    ["attachment; filename*=UTF-8''%D9%85%DB%8C%E2%80%8C%D8%AE.zip", '\u0645\u06cc\u200c\u062e.zip'],
    ["attachment; filename*=UTF-8''%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB.zip", '\u{1f469}\u200d\u{1f4bb}.zip'],
    [`attachment; filename="${'n'.repeat(255)}"`, 'n'.repeat(255)],
  ] as const;
  for (const [header, filename] of cases) t.is(requireFilename(header), filename, header);
});

test('the name parameter marks an entry, with or without a file name', (t) => {
  t.deepEqual(parseContentDisposition('attachment; name="atom"; filename=entry.xml'), {
    filename: 'entry.xml',
    name: 'atom',
  });
  t.deepEqual(parseContentDisposition('attachment; name=atom'), { filename: null, name: 'atom' });
  t.deepEqual(parseContentDisposition('attachment'), { filename: null, name: null });
  t.deepEqual(parseContentDisposition(undefined), { filename: null, name: null });
});

test('a file name that is missing, not ASCII, not a name or too long is a bad request', (t) => {
  const utf8AsNodeGivesIt = Buffer.from('café.zip').toString('latin1');
  const headers = [
    undefined,
    '',
    'attachment',
    'attachment; name=atom',
    'orbitals.zip',
    'attachment filename=x.zip',
    'attachment; filename=',
    'attachment; filename=""',
    'attachment; filename="  "',
    'attachment; filename="."',
    'attachment; filename=..',
    'attachment; filename="dir/.."',
    'attachment; filename="dir/"',
    'attachment; filename="caf\u00e9.zip"',
    `attachment; filename="${utf8AsNodeGivesIt}"`,
    'attachment; filename=caf\u00e9.zip',
    'attachment; filename="a\tb.zip"',
    'attachment; filename="a\0b.zip"',
    'attachment; filename="a\u007fb.zip"',
    'attachment; filename="a.zip',
    'attachment; filename= "a.zip',
    'attachment; filename="a.zip"b',
    'attachment; filename=a.zip; filename=b.zip',
    `attachment; filename=${'n'.repeat(256)}`,
    "attachment; filename*=UTF-8''caf%E9.zip",
    "attachment; filename*=us-ascii''caf%E9.zip",
    "attachment; filename*=US-ASCII''caf\xe9.zip",
    "attachment; filename*=UTF-8''a%E2%80%AEb.zip",
    "attachment; filename*=UTF-8''a%C2%85b.zip",
    "attachment; filename*=UTF-8''a%E2%80%8Bb.zip",
    "attachment; filename*=UTF-8''a%E2%80%8Db.zip",
    "attachment; filename*=UTF-8''%E2%80%8D",
    `attachment; filename*=UTF-8''${'%C3%A9'.repeat(128)}`,
    "attachment; filename=a\u007fb.zip; filename*=UTF-8''caf%C3%A9.zip",
    "attachment; filename*=UTF-8''a%0Ab.zip",
    "attachment; filename*=UTF-8''%",
    "attachment; filename*=UTF-16''a.zip",
    'attachment; filename*=a.zip',
    "attachment; filename*=UTF-8''",
  ];
  for (const header of headers) refused(t, 'ErrorBadRequest', () => requireFilename(header), header);
});

test('the name of a file in a form is UTF-8; a header gives it in ASCII, and in full', (t) => {
  const wire = Buffer.from('form-data; name="file"; filename="naïve 文.zip"').toString('latin1');
  t.is(requireFilename(wire, 'part'), 'naïve 文.zip');
  refused(t, 'ErrorBadRequest', () => requireFilename('form-data; filename="caf\xe9.zip"', 'part'));
  t.is(attachment('a "b".zip'), 'attachment; filename="a \\"b\\".zip"');
  for (const name of ['naïve 文.zip', "l'été (1)*.zip", '🙂.tar.gz']) {
    const header = attachment(name);
    t.regex(header, /^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''[\w%.!~-]+$/);
    t.is(requireFilename(header), name, 'it is parsed back');
  }
});

test('any header gives a value or a refusal', (t) => {
  const long = 16_000;
  const nasty = [
    'a'.repeat(long),
    ';'.repeat(long),
    '="'.repeat(long / 2),
    ' '.repeat(long),
    ';a '.repeat(long / 3),
  ];
  const attacks = [
    ...nasty,
    ...nasty.map((text) => `attachment; filename="${text}\\`),
    `a/b;${'\\"'.repeat(long / 2)}`,
  ];
  for (const header of attacks) {
    for (const parse of [
      parseContentDisposition,
      parseMediaType,
      negotiateDocument,
      parseSlug,
      parseContentMd5,
    ]) {
      try {
        parse(header);
      } catch (error) {
        t.true(error instanceof SwordError, String(error));
      }
    }
  }
});

test('Content-MD5 is parsed as hex in any case and as base64', (t) => {
  const digest = createHash('md5').update('orbitals').digest();
  const hex = digest.toString('hex');
  t.is(parseContentMd5(hex), hex);
  t.is(parseContentMd5(` ${hex.toUpperCase()} `), hex);
  t.is(parseContentMd5(digest.toString('base64')), hex);
  t.is(parseContentMd5(undefined, hex), hex);
  t.is(parseContentMd5(hex, digest.toString('base64')), hex);
  t.is(parseContentMd5(undefined), null);
});

const sha = (algorithm: 'sha256' | 'sha512', text: string) => createHash(algorithm).update(text).digest();
const sha256 = sha('sha256', 'orbitals');
const sha512 = sha('sha512', 'orbitals');

test('digest fields are parsed as dictionaries: known algorithms, and the last duplicate', (t) => {
  const [short, long] = [`:${sha256.toString('base64')}:`, `:${sha512.toString('base64')}:`];
  const both = { sha256: sha256.toString('hex'), sha512: sha512.toString('hex') };
  for (const [header, expected] of [
    [`sha-256=${short}, sha-512=${long}`, both],
    [`sha-512=${long}\t,\tSHA-256=${short};a=b;c="d, e"`, both],
    [`sha-256=${short},sha-512=:${'A'.repeat(86)}==:,sha-512=${long}`, both],
    [`sha-256=${short}`, { ...both, sha512: null }],
    [`md5=:AA==:, sha, a="sha-256=\\", x", b=(1 2), c=?1, sha-512=${long}`, { ...both, sha256: null }],
    ['', { sha256: null, sha512: null }],
    [undefined, { sha256: null, sha512: null }],
    [[`sha-256=${short}`, `sha-512=${long}`], both],
  ] as const) {
    t.deepEqual(parseDigestField('Repr-Digest', header), expected, String(header));
  }
  t.is(digestField({ sha256: both.sha256, md5: null }), `sha-256=${short}`);
  t.is(
    digestField({ sha256: both.sha256, md5: '00'.repeat(16) }),
    `sha-256=${short}, md5=:${'A'.repeat(22)}==:`,
  );
});

test('a digest field of any length is refused in linear time', (t) => {
  const header = `${'a'.repeat(1_000_000)}"`;
  t.throws(() => parseDigestField('Content-Digest', header), { message: /malformed/ });
});

test('a malformed digest field, or two that contradict each other, is a checksum mismatch', (t) => {
  const base64 = sha256.toString('base64');
  for (const header of [
    'sha-256',
    'sha-256=',
    `sha-256=${base64}`,
    `sha-256="${base64}"`,
    `sha-256=:${base64}`,
    `sha-256=:${base64.slice(4)}:`,
    `sha-512=:${base64}:`,
    `sha-256=:${sha256.toString('hex')}:`,
    `sha-256=:${base64}:,`,
    `,sha-256=:${base64}:`,
    `sha-256=:${base64}: sha-512=:AA==:`,
    'sha-256="',
    `sha-256=:${'A'.repeat(10_000)}:`,
    '"'.repeat(10_001),
  ]) {
    const what = header.slice(0, 80);
    refused(t, 'ErrorChecksumMismatch', () => parseDigestField('Content-Digest', header), what);
  }
  const one = { sha256: 'aa', sha512: null };
  t.deepEqual(bothDigests(one, { sha256: 'aa', sha512: 'bb' }), { sha256: 'aa', sha512: 'bb' });
  refused(t, 'ErrorChecksumMismatch', () => bothDigests(one, { sha256: 'ab', sha512: null }));
});

test('the best available packaging among the acceptable ones is chosen', (t) => {
  const [zip, binary] = ['SimpleZip', 'Binary'].map((name) => `http://purl.org/net/sword/package/${name}`);
  const other = 'http://purl.org/net/sword/package/METSDSpaceSIP';
  for (const [header, expected] of [
    [undefined, null],
    ['', null],
    [zip, zip],
    [` ${binary} `, binary],
    [`${other}, ${binary};q=0.1, ${zip};q=0.5`, zip],
    [`${zip}, ${binary}`, zip],
    [`${zip};q=0, ${binary}`, binary],
    [`${zip};q=many`, zip],
  ] as const) {
    t.is<string | null | undefined, string | null | undefined>(
      parseAcceptPackaging(header),
      expected,
      header,
    );
  }
  for (const header of [other, 'SimpleZip', `${zip};q=0`, '*']) {
    refused(t, 'NotAcceptable', () => parseAcceptPackaging(header), header);
  }
});

test('a malformed Content-MD5 is a checksum mismatch', (t) => {
  const hex = 'd41d8cd98f00b204e9800998ecf8427e';
  const wrong = ['', hex.slice(1), `${hex}0`, 'g'.repeat(32), 'AAAA', `${hex}, ${hex}`, `"${hex}"`];
  for (const header of wrong) refused(t, 'ErrorChecksumMismatch', () => parseContentMd5(header), header);
  refused(t, 'ErrorChecksumMismatch', () => parseContentMd5(hex, hex.replace('d', 'e')));
  refused(t, 'ErrorChecksumMismatch', () => parseContentMd5([hex, hex]));
});

test('In-Progress is true, false or absent', (t) => {
  t.is(parseInProgress('true'), true);
  t.is(parseInProgress(' TRUE\t'), true);
  t.is(parseInProgress('False'), false);
  t.is(parseInProgress(undefined), null);
  for (const header of ['', 'yes', '1', 'true, false', 'truely']) {
    refused(t, 'ErrorBadRequest', () => parseInProgress(header), header);
  }
  refused(t, 'ErrorBadRequest', () => parseInProgress(['true', 'true']));
});

test('a media type is parsed with its parameters, in any case and spacing', (t) => {
  const type = parseMediaType(' Application/ATOM+xml ; Type = "Entry";charset=UTF-8');
  t.is(type.type, 'application/atom+xml');
  t.deepEqual(
    [...type.parameters],
    [
      ['type', 'Entry'],
      ['charset', 'UTF-8'],
    ],
  );
  t.is(parseMediaType('multipart/form-data; boundary="a;b=c"').parameters.get('boundary'), 'a;b=c');
  t.is(parseMediaType('multipart/form-data; boundary=a; Boundary=b').parameters.get('boundary'), 'a');
  for (const header of [
    undefined,
    '',
    'zip',
    'application/',
    '/zip',
    'application/zip, text/plain',
    '; a=b',
  ]) {
    refused(t, 'ErrorContent', () => parseMediaType(header), header);
  }
});

test('a collection accepts the listed archives, and compressed tars if it accepts tars', (t) => {
  const takes = (header: string, accept: readonly string[]) =>
    isArchiveType(parseMediaType(header).type, accept);
  const both = ['application/zip', 'application/x-tar'];
  for (const type of ['application/zip; charset=binary', 'APPLICATION/ZIP', 'application/x-tar'])
    t.true(takes(type, both));
  const compressed = ['gzip', 'x-gzip', 'x-gtar', 'x-compressed-tar', 'x-bzip2', 'x-bzip', 'x-xz'];
  for (const subtype of compressed) {
    t.true(takes(`application/${subtype}`, both), subtype);
    t.true(takes(`application/${subtype}`, ['application/x-tar']), subtype);
    t.false(takes(`application/${subtype}`, ['application/zip']), subtype);
  }
  t.false(takes('application/zip', ['application/x-tar']));
  for (const subtype of ['octet-stream', 'x-zip-compressed', 'x-gtar-compressed']) {
    t.true(takes(`application/${subtype}`, ['application/zip']), 'the bytes decide');
    t.false(takes(`application/${subtype}`, []), 'no archive is accepted');
  }
  for (const type of ['text/plain', 'application/x-7z-compressed', 'application/atom+xml']) {
    t.false(takes(type, both), type);
  }
});

test('entries are Atom or plain XML, and feeds are refused as entries', (t) => {
  const isEntry = (header: string) => isEntryType(parseMediaType(header));
  for (const type of [
    'application/atom+xml',
    'application/atom+xml; type=ENTRY; charset=utf-8',
    'text/xml',
    'application/xml',
  ]) {
    t.true(isEntry(type), type);
  }
  for (const type of [
    'application/atom+xml;type=feed',
    'application/json',
    'text/plain',
    'application/atomsvc+xml',
  ]) {
    t.false(isEntry(type), type);
  }
});

test('SimpleZip, Binary and an absent header are valid packagings, others are not', (t) => {
  const simpleZip = ' http://purl.org/net/sword/package/SimpleZip';
  for (const header of [undefined, simpleZip, 'http://purl.org/net/sword/package/Binary'])
    t.notThrows(() => assertPackaging(header));
  for (const header of ['', 'SimpleZip', 'http://purl.org/net/sword/package/METSDSpaceSIP']) {
    refused(t, 'ErrorContent', () => assertPackaging(header), header);
  }
});

test('a slug is percent-decoded as UTF-8', (t) => {
  t.is(parseSlug('orbitals-1.0'), 'orbitals-1.0');
  t.is(parseSlug('caf%C3%A9%20au%20lait'), 'café au lait');
  t.is(parseSlug(Buffer.from('café').toString('latin1')), 'café');
  t.is(parseSlug(undefined), null);
  t.is(parseSlug(' %20 '), null);
  const longest = '\u{1f3a8}'.repeat(255);
  t.is(parseSlug(encodeURIComponent(longest)), longest, 'a character beyond the first plane is one');
  for (const header of [
    '100%',
    '%E9',
    'caf\u00e9',
    'a%00b',
    'a%0D%0Ab',
    '..',
    ' %2e%2E',
    '.',
    'x'.repeat(256),
    encodeURIComponent(`${longest}x`),
  ]) {
    refused(t, 'ErrorBadRequest', () => parseSlug(header), header);
  }
});

test('a slug may have joiners and soft hyphens, but no control of the direction of text', (t) => {
  // Persian with a non-joiner, an emoji sequence, a soft hyphen.
  const words = [
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u{1f469}\u200d\u{1f4bb}',
    'paint\u00adbox',
  ];
  for (const text of words) t.notThrows(() => refuseBidiControls(parseSlug(encodeURIComponent(text))), text);
  t.notThrows(() => refuseBidiControls(null));
  for (const control of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069') {
    const slug = parseSlug(encodeURIComponent(`a${control}b`));
    t.is(slug, `a${control}b`, 'a repetition of an earlier request may have it');
    refused(t, 'ErrorBadRequest', () => refuseBidiControls(slug), encodeURIComponent(control));
  }
});

test('On-Behalf-Of is refused, and an empty header is ignored', (t) => {
  refused(t, 'MediationNotAllowed', () => refuseMediation('bob'));
  t.notThrows(() => refuseMediation(undefined));
  t.notThrows(() => refuseMediation(' '));
});

test('a write with another revision is refused, and a read with the current one is not repeated', (t) => {
  const tag = entityTag(42, 7);
  t.is(tag, '"42-7"');
  for (const header of [undefined, '*', '"42-7"', 'W/"42-7"', '"x", "42-7"', '42-7']) {
    t.notThrows(() => assertMatches(header, tag), header);
  }
  for (const header of ['"42-6"', '"42-71"', '', '"x", "y"', '"242-7"']) {
    refused(t, 'ETagNotMatched', () => assertMatches(header, tag), header);
  }
  t.true(isNotModified('W/"42-7"', tag));
  t.true(isNotModified('*', tag));
  t.false(isNotModified('"42-8"', tag));
  const zip = entityTag(42, 7, 'zip');
  t.is(zip, 'W/"42-7-zip"');
  const tags = [
    tag,
    zip,
    ...(['xml', 'json', 'html', 'rdf'] as const).map((format) => entityTag(42, 7, format)),
  ];
  for (const current of tags) {
    t.deepEqual(
      tags.filter((held) => isNotModified(held, current)),
      [current],
      'a read concerns one representation',
    );
  }
  for (const held of [...tags, 'W/"42-7-feed"', '"42-7-xml-gzip"'])
    t.notThrows(() => assertMatches(held, tag), 'a write concerns the deposit');
  refused(t, 'ETagNotMatched', () => assertMatches(entityTag(42, 6, 'zip'), tag));
  t.false(isNotModified(undefined, tag));
});

test('an idempotency key is up to 255 printable characters', (t) => {
  t.is(parseIdempotencyKey('"a-b c"'), '"a-b c"');
  t.is(parseIdempotencyKey(undefined), null);
  for (const header of ['', '\u00e9', 'x'.repeat(256)]) {
    refused(t, 'ErrorBadRequest', () => parseIdempotencyKey(header), header);
  }
});

test('Accept selects the representation by weight, then specificity, then order', (t) => {
  const cases = [
    [undefined, 'application/xml'],
    ['', 'application/xml'],
    ['*/*', 'application/xml'],
    ['application/*', 'application/xml'],
    ['application/xml', 'application/xml'],
    ['text/html, image/png', 'text/html'],
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'application/xml'],
    ['text/html, image/gif, image/jpeg, */*; q=0.2', 'application/xml'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html, application/xml', 'application/xml'],
    ['text/html, */*', 'application/xml'],
    ['application/atom+xml', 'application/atom+xml'],
    ['Application/Atom+XML; Type="entry"', 'application/atom+xml;type=entry'],
    ['application/atom+xml;type=feed', 'application/xml'],
    ['application/atomsvc+xml, */*;q=0.1', 'application/atomsvc+xml'],
    ['application/json', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['*/*, application/json', 'application/json'],
    ['application/json;q=0.5, application/xml;q=0.4', 'application/json'],
    ['application/json;q=0.4, application/xml;q=0.5', 'application/xml'],
    ['application/xml, application/json', 'application/xml'],
    ['application/json;q=0', 'application/xml'],
    ['*/*;q=0', 'application/xml'],
    ['application/xml;q=0, */*;q=0.1', 'application/atom+xml'],
    ['application/xml;q=0, application/json;q=0', 'application/xml'],
    ['application/json;q=2, application/xml;q=0.9', 'application/json'],
    ['application/*;q=0.1, application/json', 'application/json'],
    [';;,,/,q=1', 'application/xml'],
  ] as const;
  for (const [accept, contentType] of cases) {
    const formats: Readonly<Record<string, string>> = { 'application/json': 'json', 'text/html': 'html' };
    t.like(negotiateDocument(accept), { contentType, format: formats[contentType] ?? 'xml' }, accept);
  }
});

test('a page is chosen only where HTML is preferred to every type of XML and JSON, offered or not', (t) => {
  const feed = { contentType: 'application/atom+xml;type=feed', format: 'xml' } as const;
  const rdf = { contentType: 'application/rdf+xml', format: 'xml' } as const;
  for (const accept of [
    'application/xml, text/html;q=0.5',
    'text/html, application/xml',
    'text/html;q=0.9, text/xml;q=0.9',
    'application/atom+xml;type=entry, text/html;q=0.5',
  ]) {
    for (const offer of [feed, rdf]) t.is(negotiate([offer, PAGE], accept).format, 'xml', accept);
    t.is(negotiate(FACTS_OFFERS, accept).format, 'json', accept);
  }
  for (const accept of [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,*/*;q=0.8',
    'text/html',
  ])
    for (const offer of [feed, rdf]) t.is(negotiate([offer, PAGE], accept).format, 'html', accept);
});

test('headers have the same meaning after a transfer by HTTP', async (t) => {
  const server = createServer((incoming, response) => {
    const { headers } = incoming;
    const answer = {
      md5: parseContentMd5(headers['content-md5']),
      slug: parseSlug(headers['slug']),
      refused: '',
    };
    try {
      requireFilename(headers['content-disposition']);
    } catch (error) {
      answer.refused = error instanceof SwordError ? error.code : String(error);
    }
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const wire = (text: string) => Buffer.from(text).toString('latin1');
  const body = await new Promise<string>((resolve, reject) => {
    const headers = {
      'Content-MD5': '1B2M2Y8AsgTpgAmY7PhCfg==',
      Slug: wire('café'),
      'Content-Disposition': wire('attachment; filename="café.zip"'),
    };
    request({ port, host: '127.0.0.1', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
  t.deepEqual(JSON.parse(body), {
    md5: 'd41d8cd98f00b204e9800998ecf8427e',
    slug: 'café',
    refused: 'ErrorBadRequest',
  });
});

test('only the first fifty ranges of an Accept header count, and ten parameters of each', (t) => {
  const ranges = (count: number) => 'text/plain,'.repeat(count);
  t.is(negotiateDocument(`${ranges(49)}application/json`).format, 'json');
  t.is(negotiateDocument(`${ranges(50)}application/json`).format, 'xml');
  const json = (parameters: number) =>
    `application/json${';a=b'.repeat(parameters)};q=0.1,application/xml;q=0.5`;
  t.is(negotiateDocument(json(9)).format, 'xml');
  t.is(negotiateDocument(json(10)).format, 'json');
});
