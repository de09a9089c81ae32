/**
 * Maximum bytes that S3 copies in one request. An object is uploaded under a temporary key and then copied to its own.
 */
export const MAX_S3_OBJECT = 5 * 1024 ** 3;

/** Location of an S3 store. */
export type S3Place = {
  readonly endpoint: { readonly host: string; readonly port: number; readonly tls: boolean };
  readonly bucket: string;
  /** Empty if the store is asked for the region of the bucket. */
  readonly region: string;
  /** Prefix of every key, for a shared bucket. */
  readonly prefix: string;
};

/** A name that every S3 store accepts: labels between dots, and no IPv4 address. */
const BUCKET = /^(?!\d+(?:\.\d+){3}$)(?=.{3,63}$)[a-z0-9](?:-*[a-z0-9])*(?:\.[a-z0-9](?:-*[a-z0-9])*)*$/;

/** Reads `s3://<host>:<port>/<bucket>[/<prefix>]?tls=<true|false>&region=<region>`. */
export function parseS3Url(text: string): S3Place {
  const url = URL.parse(text);
  const [bucket = '', ...prefix] = (url?.pathname ?? '').split('/').slice(1);
  const tls = url?.searchParams.get('tls') ?? 'true';
  if (!url?.hostname || bucket === '' || !/^(true|false)$/.test(tls)) {
    throw new Error('must be s3://<host>:<port>/<bucket>?tls=<true|false>&region=<region>');
  }
  if (!BUCKET.test(bucket))
    throw new Error(
      'its bucket must have 3 to 63 characters of a-z 0-9 . -, with a letter or digit at its beginning, its end and on both sides of a dot, and must not be an IPv4 address',
    );
  if (prefix.includes('incoming'))
    throw new Error(
      'its prefix must not have a segment named incoming: below it other services of the bucket remove objects',
    );
  const unknown = url.searchParams.entries().find(([name]) => name !== 'tls' && name !== 'region');
  if (unknown !== undefined) {
    const [name, value] = unknown;
    // A name without a value is not shown, since it may be a key.
    throw new Error(`accepts tls and region after the ?, not ${value === '' ? 'other names' : name}`);
  }
  if (url.username || url.password)
    throw new Error('must not contain keys: set DEPOSIT_S3_ACCESS_KEY and DEPOSIT_S3_SECRET_KEY');
  const port = Number(url.port) || (tls === 'true' ? 443 : 80);
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const folder = prefix.filter((segment) => segment !== '').map((segment) => `${segment}/`);
  return {
    endpoint: { host: url.hostname, port, tls: tls === 'true' },
    bucket,
    region,
    prefix: folder.join(''),
  };
}
