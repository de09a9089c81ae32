import { randomBytes, randomUUID } from 'node:crypto';
import { EngineProcesses } from '../../drills/engines/engine-processes.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import type { Bench, Comparison, Goal } from '../frame/goal.ts';
import { interleave, secondsOf } from '../frame/interleave.ts';
import { signedPut } from './signed-put.ts';

const CASES = [
  { bytes: 2048, objects: 400, atOnce: 16 },
  { bytes: 16 * 1024 ** 2, objects: 6, atOnce: 1 },
];

/** The store hashes, verifies and spools its input; the bare side hashes a body that it has in memory. */
export const storeAdapter: Goal = {
  id: 'D2',
  what: 'put into S3 (the server of the tests)',
  async measure(bench) {
    await using engines = await EngineProcesses.start();
    const config = readConfig({ ...engines.settings, DEPOSIT_DATA_DIR: bench.folder });
    await using store = await openStore(config);
    if (config.archiveStore.kind !== 's3') throw new Error('The engines keep archives in S3.');
    const { accessKey, secretKey } = config.archiveStore;
    const [, host] = /^s3:\/\/([^/]+)\//.exec(engines.settings['DEPOSIT_ARCHIVE_STORE'] ?? '') ?? [];
    const put = (bytes: Uint8Array) =>
      signedPut(`http://${host}/deposits/${randomUUID()}`, bytes, { accessKey, secretKey });
    const comparisons: Comparison[] = [];
    for (const each of CASES)
      comparisons.push(await compare(bench, each, (bytes) => store.put(chunksOf(bytes)), put));
    return comparisons;
  },
};

type Put = (bytes: Uint8Array) => Promise<unknown>;

async function compare(
  bench: Bench,
  { bytes, objects, atOnce }: (typeof CASES)[number],
  ours: Put,
  bare: Put,
) {
  const rateOf = (put: Put) => async () => {
    const writer = async (): Promise<void> => {
      for (let turn = 0; turn < objects / atOnce; turn += 1) await put(randomBytes(bytes));
    };
    const seconds = await secondsOf(() => Promise.all(Array.from({ length: atOnce }, writer)));
    return (objects * bytes) / 1e6 / seconds;
  };
  const what = `${bytes.toLocaleString('en')} bytes, ${atOnce} at a time`;
  const found = await interleave(bench, `D2, ${what}`, { ours: rateOf(ours), bare: rateOf(bare) });
  return {
    what,
    unit: 'MB/s',
    ours: { name: 'archive store on S3', values: found.ours },
    reference: { name: 'bare fetch PUT', values: found.bare },
    wanted: undefined,
  };
}

/** Yields chunks of the size that a socket delivers. */
async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
