import { hash } from 'node:crypto';
import { authorization } from '../../testing/s3/s3-signature.ts';

export type S3Keys = { readonly accessKey: string; readonly secretKey: string };

/** Sends the least that an S3 server accepts: one PUT, signed, with the SHA-256 of its body. */
export async function signedPut(url: string, body: Uint8Array, keys: S3Keys): Promise<void> {
  const { host, pathname } = new URL(url);
  const headers = {
    host,
    'x-amz-content-sha256': hash('sha256', body),
    'x-amz-date': new Date().toISOString().replace(/[-:]|\.\d+/g, ''),
  };
  const signature = authorization(
    { method: 'PUT', url: pathname, headers },
    { ...keys, region: 'us-east-1' },
  );
  const sent = { ...headers, authorization: signature, 'content-type': 'application/octet-stream' };
  const answer = await fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer>, headers: sent });
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}
