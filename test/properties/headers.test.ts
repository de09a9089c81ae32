import test from 'ava';
import * as fc from 'fast-check';
import {
  parseUploadChecksum,
  parseUploadLength,
  parseUploadMetadata,
  parseUploadOffset,
} from '../../src/modules/resumable-uploads/http/tus-headers.ts';
import { formatQualifiedSwhid, InvalidSwhid, parseQualifiedSwhid } from '../../src/swhid/swhid.ts';
import { DOCUMENT_OFFERS, negotiate } from '../../src/sword/headers/accept.ts';
import { parseAcceptPackaging } from '../../src/sword/headers/accept-packaging.ts';
import { parseContentDisposition, requireFilename } from '../../src/sword/headers/content-disposition.ts';
import { parseContentMd5 } from '../../src/sword/headers/content-md5.ts';
import { digestField, parseDigestField } from '../../src/sword/headers/digest-fields.ts';
import { assertMatches, entityTag, isNotModified } from '../../src/sword/headers/entity-tag.ts';
import { parseIdempotencyKey } from '../../src/sword/headers/idempotency-key.ts';
import { parseInProgress } from '../../src/sword/headers/in-progress.ts';
import { parseMediaType } from '../../src/sword/headers/media-type.ts';
import { assertPackaging } from '../../src/sword/headers/packaging.ts';
import { parseSlug } from '../../src/sword/headers/slug.ts';
import { SwordError } from '../../src/sword/sword-error.ts';
import { anyCharacter } from './odd-texts.ts';

const parsers: Readonly<Record<string, (header: string) => unknown>> = {
  'Content-Disposition': parseContentDisposition,
  filename: requireFilename,
  'Content-MD5': (header) => parseContentMd5(header),
  'Content-Digest': (header) => parseDigestField('Content-Digest', header),
  'Repr-Digest': (header) => parseDigestField('Repr-Digest', header),
  'In-Progress': parseInProgress,
  'Idempotency-Key': parseIdempotencyKey,
  'Content-Type': parseMediaType,
  Accept: (header) => negotiate(DOCUMENT_OFFERS, header),
  'Accept-Packaging': parseAcceptPackaging,
  Packaging: assertPackaging,
  Slug: parseSlug,
  'If-Match': (header) => assertMatches(header, '"1-2"'),
  'If-None-Match': (header) => isNotModified(header, '"1-2"'),
  'Upload-Length': (header) => parseUploadLength({ 'upload-length': header }),
  'Upload-Offset': (header) => parseUploadOffset({ 'upload-offset': header }),
  'Upload-Checksum': (header) => parseUploadChecksum({ 'upload-checksum': header }),
  'Upload-Metadata': (header) => parseUploadMetadata(header),
};

const pieces = [
  'attachment',
  'form-data',
  ';',
  '=',
  '"',
  '\\',
  '/',
  ',',
  ' ',
  '\t',
  ':',
  '%',
  '%2f',
  "''",
  'filename',
  'filename*',
  'name',
  'UTF-8',
  'sha-256',
  'md5',
  'true',
  'q',
  '*',
  'W/',
  '0',
  '9',
];
const latin1 = fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code));

/** Possible values of a header: bytes, mostly those with a meaning. */
const header = fc
  .array(fc.oneof(fc.constantFrom(...pieces), latin1), { maxLength: 40 })
  .map((parts) => parts.join(''));

for (const [name, parse] of Object.entries(parsers)) {
  test(`${name} is parsed or refused, for any value`, (t) => {
    fc.assert(
      fc.property(header, (value) => {
        try {
          parse(value);
        } catch (error) {
          t.true(error instanceof SwordError, String(error));
        }
      }),
      { numRuns: 200 },
    );
    t.pass();
  });
}

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 200,
});
const filename = printable.filter(
  (name) => !/[/\\]/.test(name) && name.trim() === name && name !== '.' && name !== '..',
);

test('a file name survives a round trip through its header', (t) => {
  fc.assert(
    fc.property(filename, (name) => {
      const quoted = name.replaceAll('"', '\\"');
      t.is(requireFilename(`attachment; filename="${quoted}"`), name);
      t.is(
        requireFilename(`attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`),
        name,
      );
    }),
  );
});

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test('digests survive a round trip through their headers', (t) => {
  fc.assert(
    fc.property(bytes(32), bytes(16), fc.boolean(), (sha256, md5, withMd5) => {
      const digests = {
        sha256: Buffer.from(sha256).toString('hex'),
        md5: withMd5 ? Buffer.from(md5).toString('hex') : null,
      };
      t.is(parseDigestField('Repr-Digest', digestField(digests)).sha256, digests.sha256);
      const hex = Buffer.from(md5).toString('hex');
      t.is(parseContentMd5(hex.toUpperCase()), hex);
      t.is(parseContentMd5(Buffer.from(md5).toString('base64')), hex);
    }),
  );
});

test('a slug survives a round trip through percent-encoding', (t) => {
  const slug = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 40 })
    .filter((text) => text.trim() === text && !/\p{Cc}|^\.{1,2}$/u.test(text) && text.length <= 255);
  fc.assert(fc.property(slug, (text) => t.is(parseSlug(encodeURIComponent(text)), text)));
});

test('an entity tag matches itself and no other', (t) => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), (id, revision, other) => {
      const tag = entityTag(id, revision);
      t.notThrows(() => assertMatches(tag, tag));
      t.true(isNotModified(`"x", ${tag}`, tag));
      t.is(isNotModified(entityTag(id, other), tag), other === revision);
    }),
  );
});

test('metadata of an upload survive a round trip through their header', (t) => {
  const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(key, fc.string({ unit: anyCharacter })), { selector: ([name]) => name }),
      (pairs) => {
        const text = pairs
          .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
          .join(',');
        t.deepEqual([...parseUploadMetadata(text === '' ? null : text)], pairs);
      },
    ),
  );
});

test('an identifier with qualifiers is parsed as written, an invalid one is refused with the reason', (t) => {
  const hex = fc.stringMatching(/^[0-9a-f]{40}$/);
  const origin = fc.webUrl({ withFragments: true, withQueryParameters: true });
  fc.assert(
    fc.property(hex, origin, (id, url) => {
      const core = { type: 'dir', id } as const;
      t.like(parseQualifiedSwhid(formatQualifiedSwhid({ ...core, qualifiers: { origin: url } })), {
        ...core,
        qualifiers: { origin: url },
      });
    }),
  );
  fc.assert(
    fc.property(header, (text) => {
      t.throws(() => parseQualifiedSwhid(`swh:1:${text}`), { instanceOf: InvalidSwhid });
    }),
  );
});
