import { createHash, createHmac } from 'node:crypto';

export type S3Keys = { readonly accessKey: string; readonly secretKey: string };

/**
 * Sends the least that an S3 server accepts: one PUT with the SHA-256 of its body, signed (AWS signature, version 4).
 */
export async function signedPut(url: string, body: Uint8Array, keys: S3Keys): Promise<void> {
  const { host, pathname } = new URL(url);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const sha256 = createHash('sha256').update(body).digest('hex');
  const headers = { host, 'x-amz-content-sha256': sha256, 'x-amz-date': time };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = ['PUT', pathname, '', lines.join(''), names, sha256].join('\n');
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const key = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${keys.secretKey}`);
  const signature = hmac(key, toSign).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  const sent = { ...headers, authorization, 'content-type': 'application/octet-stream' };
  const answer = await fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer>, headers: sent });
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
