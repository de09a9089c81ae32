import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { makeKeyFile, readKeyFile } from '../key-file.ts';

/** The file of a key holds no Ed25519 key. */
export class BadAnchorKey extends Error {
  override readonly name = 'BadAnchorKey';
  readonly code = 'BAD_ANCHOR_KEY';
}

/** The private key that anchors are signed with; made, durable and for its owner's eyes only, when there is none. */
export async function anchorKey(file: string): Promise<KeyObject> {
  if ((await readKeyFile(file)) === undefined) {
    const { privateKey } = generateKeyPairSync('ed25519');
    await makeKeyFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  return parsed(file, createPrivateKey, await readKeyFile(file));
}

/** The public key, be it that the file holds it or its private key; `undefined` when there is no file. */
export async function publicAnchorKey(file: string): Promise<KeyObject | undefined> {
  const pem = await readKeyFile(file);
  return pem === undefined ? undefined : parsed(file, createPublicKey, pem);
}

function parsed(file: string, parse: (pem: string) => KeyObject, pem = ''): KeyObject {
  try {
    const key = parse(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (cause) {
    throw new BadAnchorKey(`${file} holds no Ed25519 key in PEM.`, { cause });
  }
  throw new BadAnchorKey(`${file} holds a key, but not one of Ed25519.`);
}
