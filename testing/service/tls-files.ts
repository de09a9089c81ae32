import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Resolves to a certificate for localhost and 127.0.0.1 and its key, for tests only, as files in a new temporary
 * folder.
 */
export async function tlsFiles(): Promise<{
  readonly folder: string;
  readonly cert: string;
  readonly key: string;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-tls-'));
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  await writeFile(cert, CERTIFICATE);
  await writeFile(key, KEY, { mode: 0o600 });
  return { folder, cert, key };
}

/** Self-signed, valid until 2126. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUFqixL5GIEdEzj1FLD//8iqATzXkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE5Mzg0MVoYDzIxMjYxMDI4
MTkzODQxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASAqkao1oSkBr8eFgawsCMnRI+qnIBMZKCazP/kt2m6nfcyJjt2h4yI
4/Zzs2DQ3OiJRnaQubtcJbB6+ReO7yZXo28wbTAdBgNVHQ4EFgQUPIOWZJaPk/B2
OYm/btktmw9i20EwHwYDVR0jBBgwFoAUPIOWZJaPk/B2OYm/btktmw9i20EwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhALCcnjgyccSXFYZxM5elnUnMXy8MhnzIcZ5F6eQG17yLAiBI
9guGF85K78oNb3ZRAHVyz7XASgTfYAhMiwLrTGnWyw==
-----END CERTIFICATE-----
`;

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgR/s/BvTvnxdBlXfw
1tHWkAk46plt1uoFSTuadvk3EyShRANCAASAqkao1oSkBr8eFgawsCMnRI+qnIBM
ZKCazP/kt2m6nfcyJjt2h4yI4/Zzs2DQ3OiJRnaQubtcJbB6+ReO7yZX
-----END PRIVATE KEY-----
`;
