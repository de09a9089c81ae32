import path from 'node:path';
import { LogProcess } from '../../drills/engines/log-process.ts';
import { StoreProcess } from '../../drills/engines/store-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { Refusal } from '../../src/domain/decider.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { boundStore } from '../../src/service/backends/store-binding.ts';
import { MinioProcess, minioProgram } from '../../testing/s3/minio-process.ts';
import { registerIn } from '../servers/benched-service.ts';

/** The engines that the nodes of a measurement share. */
export type NodeSite = AsyncDisposable & {
  readonly name: string;
  /** Settings with which a node uses them. */
  readonly settings: Readonly<Record<string, string>>;
};

type SiteOptions = {
  readonly name: string;
  /** A folder for what opening the engines needs on this machine. */
  readonly folder: string;
  /** The log of a server; without it the double of EventStoreDB is started. */
  readonly server?: string | undefined;
  /** A file from which the double serves its log. */
  readonly file?: string;
  /** The program of a MinIO; without it the S3 server of the tests is started. */
  readonly minio?: string | undefined;
};

/**
 * Runs the work on the doubles, then on a real MinIO if `MINIO_BIN` names one or `minio` is on the path, and on the server
 * of `EVENTSTORE_URL`, which the measurement fills with deposits.
 */
export async function onEachSite<Found>(
  folder: string,
  work: (site: NodeSite) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const [minio, server] = [minioProgram(), process.env['EVENTSTORE_URL']];
  const sites: SiteOptions[] = [
    { name: 'the doubles', folder: path.join(folder, 'doubles') },
    ...(minio === undefined ? [] : [{ name: 'MinIO', folder: path.join(folder, 'minio'), minio }]),
    ...(server === undefined ? [] : [{ name: 'the server', folder: path.join(folder, 'server'), server }]),
  ];
  const found: Found[] = [];
  for (const options of sites) {
    await using site = await openSite(options);
    found.push(...(await work(site)));
  }
  return found;
}

/** Starts the engines, binds the store to the log, and registers the client of the measurements. */
export async function openSite({ name, folder, server, file, minio }: SiteOptions): Promise<NodeSite> {
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await (minio === undefined ? StoreProcess.start() : MinioProcess.start(minio)));
  const args = file === undefined ? [] : ['--file', file];
  const place = server ?? opening.use(await LogProcess.start(args)).connectionString;
  const settings = {
    DEPOSIT_EVENT_LOG: place,
    DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${store.port}/deposits?tls=false`,
    DEPOSIT_S3_ACCESS_KEY: store.accessKey,
    DEPOSIT_S3_SECRET_KEY: store.secretKey,
  };
  await prepare(readConfig({ ...settings, DEPOSIT_DATA_DIR: folder }));
  const opened = opening.move();
  return { name, settings, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A log with events may belong to a store of an earlier run: this one, which is empty, gets its id. */
async function prepare(config: ReturnType<typeof readConfig>): Promise<void> {
  await using log = await openLog(config);
  await using store = await openStore(config);
  const id = await boundStore(log);
  if (id !== undefined) await store.setId(id);
  await registerIn(log).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error; // registered by an earlier run
  });
}
