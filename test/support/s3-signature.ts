import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export type SignedRequest = {
  readonly method: string;
  /** As it came: path and query, encoded. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
};

/** Why the AWS signature (version 4, in the header) of a request is refused, as a code of S3. */
export function signatureFault(
  request: SignedRequest,
  {
    accessKey,
    secretKey,
    now,
  }: { readonly accessKey: string; readonly secretKey: string; readonly now: Date },
): string | undefined {
  const { authorization = '', 'x-amz-date': date } = request.headers;
  const fields =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/((\d{8})\/([^/]+)\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (fields === null || typeof date !== 'string') return 'AccessDenied';
  const [, key = '', scope = '', day = '', region = '', signedHeaders = '', signature = ''] = fields;
  if (key !== accessKey) return 'InvalidAccessKeyId';
  if (!date.startsWith(day) || Math.abs(timeOf(date) - now.getTime()) > 15 * 60_000)
    return 'RequestTimeTooSkewed';
  if (!signedHeaders.split(';').includes('host')) return 'AccessDenied';
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical(request, signedHeaders))].join('\n');
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretKey}`);
  return hmac(signingKey, toSign).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
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
