import { appendFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { logFault } from '../../src/service/process/start-errors.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { archiveHeaders, partial } from '../../testing/http/deposit-bodies.ts';
import { TusUploads } from '../../testing/http/tus-uploads.ts';
import { AnsweredDeposits, newTar } from '../clients/answered-deposits.ts';
import { DRILL_PASSWORD, drillClient, openDeposits, registerIn } from '../service/drilled-service.ts';

/** More than the 64 KiB up to which an archive is a row. */
const LARGE_BYTES = 80_000;
const PIECE_BYTES = 50_000;
const SETTLE_MS = 30_000;

/** Codes with which the service refuses every start until an operator has acted. */
const DAMAGE = /DAMAGED|FORMAT_UNKNOWN|OTHER_STORE|UNREADABLE|BAD_CONFIG|REFUSED/;

/** Answers to clients while calls failed, or until the power was cut. */
export type Promised = {
  /** By deposit id. */
  readonly acknowledged: Map<string, { readonly sha256: string; readonly length: number }>;
  /** Acknowledged bytes, by the path of the upload. */
  readonly uploads: Map<string, number>;
};

export const nothingPromised = (): Promised => ({ acknowledged: new Map(), uploads: new Map() });

/** Makes a data folder with two deposits, one of them large, and a key. */
export async function makeDataFolder(dataDir: string): Promise<void> {
  await mkdir(path.join(dataDir, 'keys'), { recursive: true });
  await writeFile(path.join(dataDir, 'keys', 'old.key'), 'old');
  await using log = await openLog(configOf(dataDir));
  await registerIn(log, 'drill', DRILL_PASSWORD);
  await using service = await start(dataDir);
  const deposits = new AnsweredDeposits(service.url);
  await deposits.deposit(newTar(2_000), { isComplete: true });
  await deposits.deposit(newTar(LARGE_BYTES), { isComplete: true });
  await settle(dataDir);
}

export function configOf(dataDir: string) {
  return readConfig({ DEPOSIT_DATA_DIR: dataDir, DEPOSIT_PORT: '0', DEPOSIT_OPERATOR_PORT: '0' });
}

async function start(dataDir: string): Promise<Service> {
  const service = await startService(configOf(dataDir), { logger: silentLogger });
  try {
    await service.ready;
    return service;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Starts the service, deposits archives of each kind, one as a resumable upload, and stops the service. Notes what was
 * acknowledged in the file `.acknowledged` of the folder as well. Resolves to a sentence for each wrong answer.
 */
export async function runService(dataDir: string, promised: Promised): Promise<string[]> {
  let service: Service;
  try {
    service = await start(dataDir);
  } catch (error) {
    return wrongRefusals(error, dataDir);
  }
  const deposits = new AnsweredDeposits(service.url);
  const wrongs: string[] = [];
  const note = async (): Promise<void> => notePromises(dataDir, promised, deposits);
  try {
    await deposits.deposit(newTar(2_000)).then(note);
    await deposits.deposit(newTar(LARGE_BYTES), { isComplete: true }).then(note);
    wrongs.push(...(await upload(service.url, promised, note)));
    await note();
    await settle(dataDir, 1_000).catch(() => undefined);
  } catch (error) {
    wrongs.push(`A request failed: ${(error as Error).stack}`);
  }
  try {
    await service[Symbol.asyncDispose]();
  } catch (error) {
    wrongs.push(`The service did not stop: ${String(error)}`);
  }
  return [...wrongs, ...deposits.faults];
}

/** A call that fails once must not be taken for damage, which only an operator can repair. */
function wrongRefusals(error: unknown, dataDir: string): string[] {
  const { code = 'none', message } = (logFault(error, configOf(dataDir)) ?? error) as NodeJS.ErrnoException;
  return DAMAGE.test(code) ? [`The start was refused for good with ${code}: ${message}`] : [];
}

async function upload(url: string, promised: Promised, note: () => Promise<void>): Promise<string[]> {
  const client = drillClient(url);
  const uploads = new TusUploads(client, 'drill');
  const archive = newTar(LARGE_BYTES);
  const created = await uploads.create(archive.length);
  const location = created.headers.get('location');
  if (created.status !== 201 || location === null) return unlessPassing('A new upload', created.status);
  const { pathname } = new URL(location);
  for (const offset of [0, PIECE_BYTES]) {
    const piece = archive.subarray(offset, offset + PIECE_BYTES);
    const { status } = await uploads.patch(location, offset, new Uint8Array(piece));
    if (status !== 204) return unlessPassing('A piece', status);
    promised.uploads.set(pathname, offset + piece.length);
    await note();
  }
  promised.uploads.delete(pathname); // it may be used from now on, whatever is answered
  await note();
  const headers = { ...archiveHeaders('a.tar', 'application/x-tar'), ...partial, Upload: location };
  const { status } = await client.post('/1/drill/', null, headers);
  return status === 201 ? [] : unlessPassing('A deposit of an upload', status);
}

function unlessPassing(what: string, status: number): string[] {
  return [409, 423, 503, 507].includes(status) ? [] : [`${what} was answered ${status}.`];
}

function notePromises(dataDir: string, promised: Promised, deposits: AnsweredDeposits): void {
  for (const [id, archive] of deposits.acknowledged) promised.acknowledged.set(id, archive);
  const line = JSON.stringify([[...promised.acknowledged], [...promised.uploads]]);
  appendFileSync(path.join(dataDir, '.acknowledged'), `${line}\n`);
}

/** Returns what the lines of `.acknowledged` say at last. */
export function promisedIn(notes: string): Promised {
  const last = notes.split('\n').at(-2);
  if (last === undefined) return nothingPromised();
  const [acknowledged, uploads] = JSON.parse(last) as [[string, never][], [string, number][]]; // as notePromises writes it
  return { acknowledged: new Map(acknowledged), uploads: new Map(uploads) };
}

/** Starts the service where nothing fails, and resolves to a sentence for each promise that it does not hold. */
export async function runAgain(dataDir: string, { uploads }: Promised): Promise<string[]> {
  try {
    await using service = await start(dataDir);
    const client = new TusUploads(drillClient(service.url), 'drill');
    const faults: string[] = [];
    for (const [pathname, acknowledged] of uploads) {
      const offset = await client.offset(new URL(pathname, service.url).href);
      if (!(offset >= acknowledged))
        faults.push(`${acknowledged} bytes of an upload were acknowledged, and ${offset} are there.`);
    }
    const ready = await fetch(`${service.url}/health/ready`);
    if (!ready.ok) faults.push(`The service is not ready: ${await ready.text()}`);
    const open = await settle(dataDir);
    return [...faults, ...open.map((stream) => `${stream} did not come to its end.`)];
  } catch (error) {
    return [`The service did not start again: ${(error as Error).message}`];
  }
}

/** Resolves to the deposits that have not come to their end in time. */
async function settle(dataDir: string, withinMs = SETTLE_MS): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const open = await openDeposits({ DEPOSIT_DATA_DIR: dataDir });
    if (open.length === 0 || performance.now() > deadline) return open;
    await pause(20);
  }
}
