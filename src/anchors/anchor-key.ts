import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/** The file of a key holds no Ed25519 key. */
export class BadAnchorKey extends Error {
  override readonly name = 'BadAnchorKey';
  readonly code = 'BAD_ANCHOR_KEY';
}

/** The private key that anchors are signed with; made, durable and for its owner's eyes only, when there is none. */
export async function anchorKey(file: string): Promise<KeyObject> {
  if ((await pemIn(file)) === undefined) await makeKey(file);
  return parsed(file, createPrivateKey, await pemIn(file));
}

/** The public key, be it that the file holds it or its private key; `undefined` when there is no file. */
export async function publicAnchorKey(file: string): Promise<KeyObject | undefined> {
  const pem = await pemIn(file);
  return pem === undefined ? undefined : parsed(file, createPublicKey, pem);
}

/** Appears whole or not at all, and never replaces a key that somebody else made at the same moment. */
async function makeKey(file: string): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const made = `${file}.${randomUUID()}`;
  try {
    await using handle = await open(made, 'wx', 0o600);
    await handle.writeFile(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await handle.sync();
    await link(made, file).catch(unlessThere);
  } finally {
    await rm(made, { force: true });
  }
  await using parent = await open(folder, 'r');
  await parent.sync();
}

async function pemIn(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
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

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
