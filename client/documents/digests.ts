import { headerText } from '../../src/sword/headers/raw-header.ts';

/** A digest that a server announces for its answer. */
export type AnnouncedDigest = {
  /** Name in `node:crypto`. */
  readonly algorithm: 'md5' | 'sha256' | 'sha512';
  readonly header: string;
  /** Lower-case hex. */
  readonly digest: string;
};

const ALGORITHMS: Readonly<Record<string, AnnouncedDigest['algorithm']>> = {
  md5: 'md5',
  'sha-256': 'sha256',
  'sha-512': 'sha512',
};
const HEX_LENGTHS = { md5: 32, sha256: 64, sha512: 128 } as const;

/** Reads Content-MD5, and Content-Digest and Repr-Digest (RFC 9530). Malformed values are ignored. */
export function announcedDigests(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): AnnouncedDigest[] {
  return [
    ...md5In(headerText(headers['content-md5'])),
    ...['content-digest', 'repr-digest'].flatMap((header) =>
      [
        ...(headerText(headers[header]) ?? '').matchAll(/(?:^|,)\s*([a-z0-9-]+)=:([A-Za-z0-9+/]+=*):/g),
      ].flatMap(([, name = '', base64 = '']) => digestOf(header, name, base64)),
    ),
  ];
}

function md5In(value = ''): AnnouncedDigest[] {
  if (/^[0-9a-f]{32}$/i.test(value))
    return [{ algorithm: 'md5', header: 'content-md5', digest: value.toLowerCase() }];
  return digestOf('content-md5', 'md5', value);
}

function digestOf(header: string, name: string, base64: string): AnnouncedDigest[] {
  const algorithm = ALGORITHMS[name];
  const digest = Buffer.from(base64, 'base64').toString('hex');
  return algorithm && digest.length === HEX_LENGTHS[algorithm] ? [{ algorithm, header, digest }] : [];
}
