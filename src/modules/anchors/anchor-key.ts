import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { makeKeyFile, readKeyFile } from '../../tools/files/key-file.ts';

/** Thrown when a key file has no Ed25519 key. */
export class BadAnchorKey extends errorsOfCode('BAD_ANCHOR_KEY') {}

/** Returns the private key that signs anchors. A missing one is created, durable and for its owner only. */
export async function anchorKey(file: string): Promise<KeyObject> {
  if ((await readKeyFile(file)) === undefined) {
    const { privateKey } = generateKeyPairSync('ed25519');
    await makeKeyFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  }
  return parseKey(file, createPrivateKey, await readKeyFile(file));
}

/** Returns the public key, whether the file has it or the private key; `undefined` if the file does not exist. */
export async function publicAnchorKey(file: string): Promise<KeyObject | undefined> {
  const pem = await readKeyFile(file);
  return pem === undefined ? undefined : parseKey(file, createPublicKey, pem);
}

/** Returns the public keys of all PEM blocks of a file, as {@link publicAnchorKey} does of one. */
export async function publicAnchorKeys(file: string): Promise<KeyObject[] | undefined> {
  const pem = await readKeyFile(file);
  const blocks = pem?.match(/-----BEGIN ([A-Z ]+)-----.*?-----END \1-----/gs) ?? [pem];
  return pem === undefined ? undefined : blocks.map((block) => parseKey(file, createPublicKey, block));
}

function parseKey(file: string, parse: (pem: string) => KeyObject, pem = ''): KeyObject {
  try {
    const key = parse(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (cause) {
    throw new BadAnchorKey(`${file} is not an Ed25519 key in PEM.`, { cause });
  }
  throw new BadAnchorKey(`${file} is a key, but not an Ed25519 key.`);
}
