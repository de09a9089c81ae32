import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Client } from 'minio';
import type { MinioPlace } from '../../src/object-store/s3/bucket.ts';

/** Creates a user of a MinIO who may do what the policy allows. The keys of the place are those of the root user. */
export async function addUser(
  { endpoint, region, accessKey, secretKey }: MinioPlace,
  user: { readonly accessKey: string; readonly secretKey: string; readonly policy: string },
): Promise<void> {
  const { host, port, tls } = endpoint;
  const root = new Client({ endPoint: host, port, useSSL: tls, region, accessKey, secretKey });
  const ask = async (call: string, query: Record<string, string>, body: Buffer): Promise<void> => {
    const request = {
      method: 'PUT',
      bucketName: 'minio',
      objectName: `admin/v3/${call}`,
      query: new URLSearchParams(query).toString(),
    };
    await text(await root.makeRequestAsync(request, body, [200], region));
  };
  const name = `policy-of-${user.accessKey}`;
  const account = JSON.stringify({ secretKey: user.secretKey, status: 'enabled' });
  await ask('add-canned-policy', { name }, Buffer.from(user.policy));
  await ask('add-user', { accessKey: user.accessKey }, encrypted(account, secretKey));
  const attached = { policyName: name, userOrGroup: user.accessKey, isGroup: 'false' };
  await ask('set-user-or-group-policy', attached, Buffer.alloc(0));
}

const PBKDF2_WITH_AES_GCM = 2;

/**
 * Encrypts a request as the administration interface requires: salt, kind of encryption, nonce, and one fragment of
 * AES-256-GCM, which is the last one and whose associated data are the tag of an empty one.
 */
function encrypted(message: string, password: string): Buffer {
  const [salt, nonce] = [randomBytes(32), randomBytes(8)];
  const key = pbkdf2Sync(password, salt, 8192, 32, 'sha256');
  const sealed = (fragment: number, plain: string, associated: Buffer): Buffer => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32LE(fragment);
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.concat([nonce, counter])).setAAD(associated);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  };
  const last = Buffer.concat([Buffer.of(0x80), sealed(0, '', Buffer.alloc(0))]);
  return Buffer.concat([salt, Buffer.of(PBKDF2_WITH_AES_GCM), nonce, sealed(1, message, last)]);
}
