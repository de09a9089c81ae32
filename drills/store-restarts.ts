import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MinioProcess, minioProgram } from '../testing/s3/minio-process.ts';
import { newTar } from './clients/answered-deposits.ts';
import { OutageSite } from './engines/outage-site.ts';
import { type Finding, printProgress, runDrill, skipped } from './frame/drill.ts';

const HELP = `Kills a real MinIO (that of MINIO_BIN, or minio on the path) with SIGKILL and starts it again, under writers whose
archives have 1 kB to 40 MB. Every deposit that was answered 201 has to be done, with the bytes that were sent, and of
what was cut off nothing may be left in the bucket: the services remove it without a command.

  node drills/store-restarts.ts [--restarts 20] [--main FILE]

--restarts N  how often
--main FILE   the program of another release: src/main.ts of its checkout`;

const SIZES = [1_000, 60_000, 300_000, 9_000_000, 40_000_000];
const WRITERS = 4;
/** Longest times with load between two kills, and without a server. */
const [LONGEST_UP_MS, LONGEST_DOWN_MS] = [2500, 1500];
/** Limit until the first 201 after a restart: far longer than a service waits before it asks a store again. */
const STANDSTILL_MS = 60_000;
/** Time for the services to remove what is left. */
const REMOVAL_MS = 120_000;

await runDrill(HELP, { restarts: { full: 20, short: 3 }, main: { type: 'string' } }, ({ restarts, main }) =>
  drill(restarts, main),
);

async function drill(restarts: number, main?: string): Promise<Finding> {
  const program = minioProgram();
  if (program === undefined) return skipped('MINIO_BIN is not set, and no minio is on the path');
  await using site = await OutageSite.start({
    name: 'store-restarts',
    minio: program,
    main,
    roles: ['http', 'http', 'reactors'],
    more: { DEPOSIT_MAX_UPLOAD_SIZE: String(64 * 1024 ** 2) },
  });
  const minio = site.engines.store as MinioProcess; // as requested
  let isOver = false;
  const load = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(site, writer, () => isOver)));
  const standstills: string[] = [];
  for (let restart = 1; restart <= restarts; restart += 1) {
    await pause(Math.random() * LONGEST_UP_MS);
    await minio.kill();
    await pause(Math.random() * LONGEST_DOWN_MS);
    await minio.restart();
    const ms = await site.firstSuccessAfter(performance.now());
    printProgress(
      `restart ${restart} of ${restarts}: the first 201 after ${Math.round(ms)} ms, ${site.acknowledged} acknowledged in all`,
    );
    if (ms >= STANDSTILL_MS)
      standstills.push(`After restart ${restart} the first 201 came after ${Math.round(ms)} ms.`);
  }
  isOver = true;
  await load;
  await site.unsettled();
  const [left, removedIn] = await leftBehind(minio);
  const { broken, numbers } = await site.outcome();
  return {
    tried: `MinIO was killed and started again ${restarts} times under ${WRITERS} writers with archives of 1 kB to 40 MB.`,
    held: `Each of ${numbers['acknowledged']} deposits was done with the bytes that were sent; ${Math.round(removedIn / 1000)} s later nothing was left of what was cut off.`,
    broken: [
      ...standstills,
      ...broken,
      ...(left.keys + left.uploads === 0
        ? []
        : [`${left.keys} keys below incoming/ and ${left.uploads} uploads in parts were left.`]),
    ],
    numbers: { restarts, ...numbers, 'keys left': left.keys, 'uploads left': left.uploads },
  };
}

async function write(site: OutageSite, writer: number, isOver: () => boolean): Promise<void> {
  for (let turn = writer; !isOver(); turn += WRITERS) {
    const size = SIZES[Math.floor(turn / WRITERS) % SIZES.length] as number;
    const status = await site.deposit(turn, newTar(size));
    await pause(status === 201 ? 100 : 250);
  }
}

type Left = { readonly keys: number; readonly uploads: number };

/** Waits until nothing is left. Resolves to what is there at the end, and to the milliseconds that it took. */
async function leftBehind(minio: MinioProcess): Promise<readonly [Left, number]> {
  const begun = performance.now();
  for (;;) {
    const left = await leftOn(minio.drive);
    const ms = performance.now() - begun;
    if (left.keys + left.uploads === 0 || ms > REMOVAL_MS) return [left, ms];
    await pause(500);
  }
}

/** Counts on the drive: a list of uploads names only those that began since the server started. */
async function leftOn(drive: string): Promise<Left> {
  const keys = await entries(path.join(drive, 'deposits', 'incoming'));
  const multipart = path.join(drive, '.minio.sys', 'multipart');
  const uploads = await Promise.all(
    (await entries(multipart)).map((key) => entries(path.join(multipart, key))),
  );
  return { keys: keys.length, uploads: uploads.flat().length };
}

/** Resolves to the entries; an empty list if the folder does not exist. */
async function entries(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
