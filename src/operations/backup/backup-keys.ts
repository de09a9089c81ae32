import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { unlessMissing } from '../../tools/files/access.ts';
import { syncFolder } from '../../tools/files/durable-directory.ts';
import { makeKeyFile } from '../../tools/files/key-file.ts';
import { files } from '../../tools/files.ts';

type KeyPlaces = Pick<Config, 'dataDir' | 'anchorKeyFile' | 'webhooks'>;

/** Copies the keys in use and all others in their folder, in one process at a time. Resolves to their names. */
export async function backUpKeys(config: KeyPlaces, backup: string): Promise<readonly string[]> {
  await removeUnfinished(path.join(backup, 'keys'));
  const keys = await filesIn(path.join(config.dataDir, 'keys'));
  const names = new Set([...keysInUse(config).keys(), ...keys.filter((name) => !UNFINISHED.test(name))]);
  const copied: string[] = [];
  for (const name of names) {
    const key = await bytesIn(placeOf(name, config));
    if (key === undefined) continue; // not created yet
    await replaceKey(path.join(backup, 'keys', name), key);
    copied.push(name);
  }
  return copied;
}

/**
 * Restores keys to the paths of the settings without overwriting any. Resolves to a sentence for each key that was not
 * restored. Requires that the process has locked the data folder.
 */
export async function restoreKeys(backup: string, config: KeyPlaces): Promise<readonly string[]> {
  await removeUnfinished(path.join(config.dataDir, 'keys'));
  const keys = path.join(backup, 'keys');
  const problems: string[] = [];
  for (const name of (await filesIn(keys)).filter((one) => !UNFINISHED.test(one))) {
    const [from, to] = [path.join(keys, name), placeOf(name, config)];
    const reason = await putKey(to, await files.readFile(from));
    if (reason !== undefined) problems.push(`The key ${from} was not put at ${to}: ${reason}.`);
  }
  return problems;
}

/** Returns the keys in use by their names in a backup: those of a data folder, wherever settings place them. */
function keysInUse({ anchorKeyFile, webhooks }: KeyPlaces): ReadonlyMap<string, string> {
  return new Map([
    ['anchor-ed25519.pem', anchorKeyFile],
    ['webhook-aes256.key', webhooks.keyFile],
  ]);
}

function placeOf(name: string, config: KeyPlaces): string {
  return keysInUse(config).get(name) ?? path.join(config.dataDir, 'keys', name);
}

/** Names of keys that are being written. */
const UNFINISHED = /\.new$|\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

async function removeUnfinished(keys: string): Promise<void> {
  const left = (await filesIn(keys)).filter((name) => UNFINISHED.test(name));
  for (const name of left) await files.rm(path.join(keys, name), { force: true });
}

async function replaceKey(file: string, key: Buffer): Promise<void> {
  if ((await bytesIn(file))?.equals(key)) return;
  await makeKeyFile(`${file}.new`, key);
  await files.rename(`${file}.new`, file);
  await syncFolder(path.dirname(file));
}

/** Writes a key. Resolves to the reason if it was not written. */
async function putKey(file: string, key: Buffer): Promise<string | undefined> {
  try {
    if ((await bytesIn(file)) === undefined) await makeKeyFile(file, key);
    return (await bytesIn(file))?.equals(key) ? undefined : 'a different one exists';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return message;
  }
}

async function bytesIn(file: string): Promise<Buffer | undefined> {
  return await files.readFile(file).catch(unlessMissing(undefined));
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await files.readdir(folder, { withFileTypes: true }).catch(unlessMissing([]));
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
