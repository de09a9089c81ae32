import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { tarOf } from '../testing/archives/archive-builders.ts';
import { archiveHeaders, partial } from '../testing/http/deposit-bodies.ts';
import type { TestClient } from '../testing/http/test-client.ts';
import { checksumOf, TusUploads } from '../testing/http/tus-uploads.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Kills the service with SIGKILL at random moments under four clients that bring resumable uploads and deposit
them, and looks whether each is an archive of exactly one deposit, and no acknowledged byte was ever lost.

  node drills/resumable-kills.ts [--kills 50]
`;

const WRITERS = 4;

/** The knowledge of the clients. */
type Known = {
  /** File names of the archives whose deposit was acknowledged. */
  readonly deposited: Set<string>;
  /** Number of archives whose answer was lost and that a 409 confirmed. */
  found: number;
  readonly wrongs: string[];
};

await runDrill(HELP, { kills: { full: 50, short: 2 } }, ({ kills }) => drill(kills));

async function drill(kills: number): Promise<Finding> {
  await using drilled = await drilledFolder('pieces');
  const folder = drilled.dataDir;
  const port = await freePort();
  const known: Known = { deposited: new Set(), found: 0, wrongs: [] };
  const running = { now: true };
  const client = drillClient(`http://127.0.0.1:${port}`);
  const writers = Array.from({ length: WRITERS }, async () => {
    while (running.now) await bringOne(client, known);
  });
  for (let kill = 0; kill < kills; kill += 1) {
    const service = await ServiceProcess.start(folder, port);
    await pause(100 + Math.random() * 900);
    await service.end('SIGKILL');
    printProgress(`kill ${kill + 1} of ${kills}: ${known.deposited.size} deposited so far`);
  }
  await using service = await ServiceProcess.start(folder, port);
  running.now = false;
  await Promise.all(writers); // each writer completes its last one
  const code = await service.end('SIGTERM');
  const times = await timesDeposited(folder);
  const doubled = [...times].filter(([, count]) => count > 1).map(([name]) => name);
  const lost = [...known.deposited].filter((name) => !times.has(name));
  const unknown = [...times.keys()].filter((name) => !known.deposited.has(name));
  const { found, wrongs, deposited } = known;
  return {
    tried: `SIGKILL ${kills} times at random moments under ${WRITERS} clients that brought ${deposited.size} archives as resumable uploads and deposited them.`,
    held: `Each is the archive of one deposit, ${found} of them answered late; no acknowledged byte was lost.`,
    broken: [
      ...wrongs,
      ...lost.map((name) => `${name} was deposited and is in no deposit.`),
      ...doubled.map((name) => `${name} is in more than one deposit.`),
      ...unknown.map((name) => `${name} is in a deposit, and no client got an answer about it.`),
      ...(code === 0 ? [] : [`The service ended with ${code} after SIGTERM.`]),
      ...(deposited.size > 0 ? [] : ['No archive was deposited.']),
    ],
    numbers: {
      kills,
      acknowledged: deposited.size,
      lost: lost.length,
      doubled: doubled.length,
      'wrong offsets': wrongs.length,
    },
  };
}

/** Uploads and deposits one archive, chunk by chunk, retrying until it is known to be deposited. */
async function bringOne(client: TestClient, known: Known): Promise<void> {
  const filename = `${randomBytes(8).toString('hex')}.tar`;
  const bytes = tarOf([{ name: filename, data: randomBytes(100_000 + Math.random() * 3_000_000) }]);
  const uploads = new TusUploads(client, 'drill');
  const upload = await again(async () => uploads.begin(bytes.length));
  const isChecked = Math.random() < 0.5;
  const ends = new Set([0]);
  for (let acknowledged = 0; acknowledged < bytes.length; ) {
    acknowledged = await again(async () => {
      const head = await uploads.head(upload);
      if (head.status === 404)
        return giveUp(known, `${filename} is gone after ${acknowledged} were acknowledged`);
      if (head.status !== 200) throw new Error(`${head.status}`);
      const offset = Number(head.headers.get('upload-offset'));
      // With checksums only complete chunks count.
      const isWrong = offset < acknowledged || (isChecked && !ends.has(offset));
      if (isWrong) known.wrongs.push(`${filename} is at ${offset} after ${acknowledged} were acknowledged`);
      if (offset === bytes.length) return offset;
      const end = Math.min(bytes.length, Math.ceil(offset + 1 + Math.random() * 800_000));
      ends.add(end);
      const piece = new Uint8Array(bytes.subarray(offset, end));
      const answer = await uploads.patch(upload, offset, piece, isChecked ? checksumOf('sha1', piece) : {});
      if (answer.status !== 204) throw new Error(await answer.text());
      return Number(answer.headers.get('upload-offset'));
    });
  }
  await again(async () => {
    const headers = { ...archiveHeaders(filename, 'application/x-tar'), ...partial, Upload: upload };
    const answer = await client.post('/1/drill/', null, headers);
    if (answer.status === 404) return;
    const isKnown = answer.status === 409 && answer.headers.has('link');
    if (answer.status !== 201 && !isKnown) throw new Error(await answer.text());
    if (isKnown) known.found += 1;
    known.deposited.add(filename);
  });
}

/** Returns a number of bytes that ends the upload; naming the upload fails then, too. */
function giveUp({ wrongs }: Known, wrong: string): number {
  wrongs.push(wrong);
  return Infinity;
}

/** Retries, as the service is down half of the time. */
async function again<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await pause(30);
    }
  }
}

async function timesDeposited(folder: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  for await (const { type, data } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    if (type !== 'ArchiveAdded') continue;
    const { filename } = data['archive'] as { filename: string };
    times.set(filename, (times.get(filename) ?? 0) + 1);
  }
  return times;
}
