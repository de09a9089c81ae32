import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { Report } from '../../src/operations/verify/report.ts';
import { verifyService } from '../../src/operations/verify/verify-service.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { viewDirectory } from '../../src/service/backends/view-directory.ts';
import { lostOf } from '../clients/answered-deposits.ts';
import { configOf, type Promised } from './io-scene.ts';

/** Resolves to a sentence for each thing that is lost, doubled or not proven in the data folder of a stopped service. */
export async function faultsOf(dataDir: string, promised: Promised): Promise<string[]> {
  return [
    ...(await lostOf(promised, dataDir)),
    ...(await doubled(dataDir)),
    ...(await notProven(configOf(dataDir), { withViews: true })),
  ];
}

/** Every archive of the drill is deposited once. */
async function doubled(dataDir: string): Promise<string[]> {
  const seen = new Set<string>();
  const faults: string[] = [];
  await using log = await openLog(configOf(dataDir), { readOnly: true });
  for await (const { type, data, stream } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type !== 'ArchiveAdded') continue;
    const { sha256 } = data['archive'] as { sha256: string };
    if (seen.has(sha256)) faults.push(`The archive of ${stream} is in another deposit as well.`);
    seen.add(sha256);
  }
  return faults;
}

/** Resolves to what `verify --all` finds. */
export async function notProven(
  config: Config,
  { withViews = false, what = 'all' }: { readonly withViews?: boolean; readonly what?: 'all' | 'log' } = {},
): Promise<string[]> {
  const found: string[] = [];
  const report = new Report({
    limit: 10,
    onFinding: ({ code, text }) => found.push(`verify: ${code} ${text}`),
  });
  const [folder, origin] = viewDirectory(config);
  const views = { folder, origin, openLog: () => openLog(config, { readOnly: true }) };
  try {
    await verifyService(config, { what, ...(withViews && { views }) }, report);
  } catch (error) {
    found.push(`verify: ${(error as Error).message}`);
  }
  return found;
}

const LEFT = /\.(new|room)$|\.new\.[0-9a-f-]{36}$|\.[0-9a-f]{8}-[0-9a-f-]{27}$|(^|\/)incoming\/./;

/** Resolves to a sentence for each temporary file that was left in the folder. */
export async function leftovers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => LEFT.test(name)).map((name) => `${path.join('.', name)} was left.`);
}
