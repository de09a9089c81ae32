import { defaultArchiveLimits } from '../../src/archives/archive-reader.ts';
import type { Config } from '../../src/config/config.ts';
import type { EventStoreDbOptions } from '../../src/event-log/eventstoredb/settings.ts';
import type { MinioArchiveStoreOptions } from '../../src/object-store/s3/s3-object-store.ts';
import { BUCKET } from '../network/s3-server.ts';
import { KEY_FILE, SIMULATED_FOLDER } from '../world/simulated-files.ts';

export const STORE_HOST = 'store.example.org';
export const RECEIVER_HOST = 'receiver.example.org';
export const BASE_URL = 'https://deposit.example.org';
export const MAX_ARCHIVES = 20;

/** Size of the parts in which large archives are uploaded to S3; real ones are of 5 MiB at least. */
export const PART_BYTES = 2000;

export const LOG_OPTIONS: EventStoreDbOptions = { connectionString: 'esdb://log.example.org:2113?tls=false' };

export const STORE_OPTIONS: MinioArchiveStoreOptions = {
  endpoint: { host: STORE_HOST, port: 9000, tls: false },
  bucket: BUCKET,
  region: 'us-east-1',
  prefix: '',
  accessKey: 'simulation', // with keys requests name the digest of their body, which the simulated server verifies
  secretKey: 'simulation',
  temporaryFolder: SIMULATED_FOLDER,
  partBytes: PART_BYTES,
};

/** Returns the part of a configuration that reactors and notifications read. */
export function reactorConfig(stuckAfter: number): Config {
  const config = {
    archiveWorkers: 2,
    archiveLimits: defaultArchiveLimits,
    loaderIdentity: 'Simulation <simulation@example.org>',
    refIdAliases: false,
    stuckAfter,
    reactionPause: 300,
    webhooks: {
      firstPause: 500,
      longestPause: 5000,
      keyFile: KEY_FILE,
      allowPrivate: true,
      giveUpAfter: 86_400_000,
    },
  };
  return config as unknown as Config; // the rest is of parts that a simulated node does not have
}
