import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export type SignedRequest = {
  readonly method: string;
  /** Path and query as received, encoded. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
};

type Keys = { readonly accessKey: string; readonly secretKey: string };
type Scope = { readonly day: string; readonly region: string };

/** Returns the S3 code with which the AWS signature (version 4, in the header) of a request is refused, if it is. */
export function signatureFault(
  request: SignedRequest,
  {
    accessKey,
    secretKey,
    now,
    region: own,
  }: Keys & { readonly now: Date; readonly region?: string | undefined },
): string | undefined {
  const { authorization = '', 'x-amz-date': date } = request.headers;
  const fields =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (fields === null || typeof date !== 'string') return 'AccessDenied';
  const [, key = '', day = '', region = '', signedHeaders = '', signature = ''] = fields;
  if (key !== accessKey) return 'InvalidAccessKeyId';
  if (own !== undefined && region !== own) return 'AuthorizationHeaderMalformed';
  if (!date.startsWith(day) || Math.abs(timeOf(date) - now.getTime()) > 15 * 60_000)
    return 'RequestTimeTooSkewed';
  if (!signedHeaders.split(';').includes('host')) return 'AccessDenied';
  const expected = signatureOf(request, signedHeaders, { day, region, secretKey });
  return expected === signature ? undefined : 'SignatureDoesNotMatch';
}

/** Returns the value of the `Authorization` header; `headers` are all that are signed, with `x-amz-date`. */
export function authorization(
  request: SignedRequest,
  { accessKey, secretKey, region }: Keys & { readonly region: string },
): string {
  const day = String(request.headers['x-amz-date']).slice(0, 8);
  const signedHeaders = Object.keys(request.headers).toSorted().join(';');
  const signature = signatureOf(request, signedHeaders, { day, region, secretKey });
  const credential = `${accessKey}/${scopeOf({ day, region })}`;
  return `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
}

function signatureOf(
  request: SignedRequest,
  signedHeaders: string,
  { day, region, secretKey }: Scope & { readonly secretKey: string },
): string {
  const date = String(request.headers['x-amz-date']);
  const scope = scopeOf({ day, region });
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical(request, signedHeaders))].join('\n');
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretKey}`);
  return hmac(signingKey, toSign).toString('hex');
}

function scopeOf({ day, region }: Scope): string {
  return `${day}/${region}/s3/aws4_request`;
}

function canonical({ method, url, headers }: SignedRequest, signedHeaders: string): string {
  const [path = '', query = ''] = url.split('?');
  const parameters =
    query === '' ? [] : query.split('&').map((pair) => (pair.includes('=') ? pair : `${pair}=`));
  const lines = signedHeaders.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`);
  const body = String(headers['x-amz-content-sha256']);
  return [method, path, parameters.sort().join('&'), lines.join(''), signedHeaders, body].join('\n');
}

function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
