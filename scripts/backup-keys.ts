import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../src/config.ts';
import { makeKeyFile } from '../src/key-file.ts';

type KeyPlaces = Pick<Config, 'dataDir' | 'anchorKeyFile' | 'webhooks'>;

/** Copies the keys in use, and whatever else lies beside those of the data folder; resolves to their names. */
export async function backUpKeys(config: KeyPlaces, backup: string): Promise<readonly string[]> {
  const keys = path.join(config.dataDir, 'keys');
  const names = new Set([...keysInUse(config).keys(), ...(await filesIn(keys))]);
  const copied: string[] = [];
  for (const name of names) {
    const key = await bytesIn(placeOf(name, config));
    if (key === undefined) continue; // not made yet
    await replaceKey(path.join(backup, 'keys', name), key);
    copied.push(name);
  }
  return copied;
}

/** Brings keys to where the settings have them, and overwrites none; resolves to a sentence for each left out. */
export async function restoreKeys(backup: string, config: KeyPlaces): Promise<readonly string[]> {
  const keys = path.join(backup, 'keys');
  const problems: string[] = [];
  for (const name of await filesIn(keys)) {
    const [from, to] = [path.join(keys, name), placeOf(name, config)];
    const reason = await putKey(to, await readFile(from));
    if (reason !== undefined) problems.push(`The key ${from} was not put at ${to}: ${reason}.`);
  }
  return problems;
}

/** Each has the name in a backup that it has in a data folder, wherever the settings have it. */
function keysInUse({ anchorKeyFile, webhooks }: KeyPlaces): ReadonlyMap<string, string> {
  return new Map([
    ['anchor-ed25519.pem', anchorKeyFile],
    ['webhook-aes256.key', webhooks.keyFile],
  ]);
}

function placeOf(name: string, config: KeyPlaces): string {
  return keysInUse(config).get(name) ?? path.join(config.dataDir, 'keys', name);
}

async function replaceKey(file: string, key: Buffer): Promise<void> {
  if ((await bytesIn(file))?.equals(key)) return;
  await rm(`${file}.new`, { force: true });
  await makeKeyFile(`${file}.new`, key);
  await rename(`${file}.new`, file);
}

/** Resolves to why not. */
async function putKey(file: string, key: Buffer): Promise<string | undefined> {
  try {
    if ((await bytesIn(file)) === undefined) await makeKeyFile(file, key);
    return (await bytesIn(file))?.equals(key) ? undefined : 'another one is there';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return message;
  }
}

async function bytesIn(file: string): Promise<Buffer | undefined> {
  return await readFile(file).catch(unlessMissing(undefined));
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessMissing([]));
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

function unlessMissing<Value>(otherwise: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };
}
