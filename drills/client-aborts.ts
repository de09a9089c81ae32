import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { zipOf } from '../testing/archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryPart,
  formOf,
  formType,
  helloEntry,
  partial,
} from '../testing/http/deposit-bodies.ts';
import { RawConnection } from '../testing/http/raw-connection.ts';
import { swordClients } from '../testing/http/sword-clients.ts';
import { pieceHeaders, TusUploads } from '../testing/http/tus-uploads.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { AnsweredDeposits, AUTHORIZATION, newTar } from './clients/answered-deposits.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder, settled } from './service/drilled-service.ts';
import { openDescriptors } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Breaks uploads off after every twentieth of their bodies, by a reset and by closing in good order: archives alone, forms,
multipart/related, chunks of a resumable upload. Nothing may stay behind: no deposit, no temporary file, no open
descriptor, no unhandled rejection.

  node drills/client-aborts.ts
`;

const BYTES = 2_000_000;
const SHARES = Array.from({ length: 20 }, (_, step) => step / 20);
/** Milliseconds until nothing of the broken uploads may be left. */
const TIME_LIMIT_MS = 10_000;

const archive = newTar(BYTES);
/** IRIs of the uploads that were begun. */
const uploads: string[] = [];

type Upload = { readonly head: string; readonly body: Buffer };
type Kind = { readonly name: string; readonly upload: (url: string) => Promise<Upload> | Upload };

const KINDS: readonly Kind[] = [
  { name: 'binary', upload: (url) => post(url, archive, archiveHeaders('a.tar', 'application/x-tar')) },
  { name: 'form', upload: (url) => post(url, formOf([archiveOfForm(), entryPart()]), formType) },
  { name: 'form, entry first', upload: (url) => post(url, formOf([entryPart(), archiveOfForm()]), formType) },
  {
    name: 'multipart/related',
    upload: (url) => {
      const zip = zipOf([{ name: 'drill/a.bin', data: archive, method: 0 }]);
      const deposited = { entry: helloEntry, archive: zip, filename: 'a.zip' };
      const { contentType, body } = swordClients['first Python client'](deposited);
      return post(url, body, { 'Content-Type': contentType });
    },
  },
  { name: 'chunk of an upload', upload: piece },
];

await runDrill(HELP, {}, async ({ short }) =>
  drill(short ? SHARES.filter((_, step) => step % 5 === 2) : SHARES),
);

async function drill(shares: readonly number[]): Promise<Finding> {
  await using folder = await drilledFolder('aborts');
  const { dataDir } = folder;
  await using service = await ServiceProcess.start(dataDir, await freePort());
  await new AnsweredDeposits(service.url).deposit(newTar(BYTES), { isComplete: true }); // opens what is opened once
  await settled(dataDir);
  const before = await stateOf(dataDir, service.pid);
  let aborted = 0;
  for (const { name, upload } of KINDS) {
    for (const share of shares) {
      await Promise.all(
        (['reset', 'close'] as const).map(async (way) =>
          breakOff(service.url, await upload(service.url), share, way),
        ),
      );
      await removeUploads(service.url);
      aborted += 2;
    }
    printProgress(`${name}: ${aborted} uploads broken off so far`);
  }
  const after = await settledState(dataDir, service.pid, before);
  const fresh = await new AnsweredDeposits(service.url).deposit(newTar(BYTES));
  const code = await service.end('SIGTERM');
  const broken = [
    ...differences(before, after),
    ...(fresh.status === 201 ? [] : [`A deposit afterwards was answered ${fresh.status}: ${fresh.body}`]),
    ...(/unhandled|uncaught|cannot continue|unexpected error/i.test(service.said)
      ? [`The service said: ${service.said}`]
      : []),
    ...(code === 0 ? [] : [`The service ended with ${code}: ${service.said}`]),
  ];
  return {
    tried: `${aborted} uploads of ${BYTES} bytes were aborted, by reset and by close, at ${shares.length} shares of their bodies: ${KINDS.map(({ name }) => name).join(', ')}.`,
    held: 'No event, no temporary file and no open descriptor was left of them, and nothing unhandled was logged.',
    broken,
    numbers: {
      aborted,
      events: after.events - before.events,
      'temporary files': after.temporary - before.temporary,
      descriptors: after.descriptors - before.descriptors,
    },
  };
}

function archiveOfForm() {
  return archivePart(archive, 'a.tar', 'application/x-tar');
}

function post(url: string, body: Buffer, headers: Readonly<Record<string, string>>): Upload {
  return { head: headOf('POST', '/1/drill/', url, { ...headers, ...partial }, body.length), body };
}

async function piece(url: string): Promise<Upload> {
  const upload = await new TusUploads(drillClient(url), 'drill').begin(archive.length);
  uploads.push(upload);
  const { pathname } = new URL(upload);
  return { head: headOf('PATCH', pathname, url, pieceHeaders(0), archive.length), body: archive };
}

/** Deletes the uploads, whose bytes stay until then. */
async function removeUploads(url: string): Promise<void> {
  const tus = new TusUploads(drillClient(url), 'drill');
  for (const upload of uploads.splice(0)) await tus.delete(upload);
}

function headOf(
  method: string,
  target: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  length: number,
): string {
  const all = { Host: new URL(url).host, Authorization: AUTHORIZATION, ...headers, 'Content-Length': length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

async function breakOff(
  url: string,
  { head, body }: Upload,
  share: number,
  way: 'reset' | 'close',
): Promise<void> {
  using connection = await RawConnection.to(url);
  await connection.send(head);
  if (share > 0) await connection.send(body.subarray(0, Math.floor(body.length * share)));
  if (way === 'reset') {
    await pause(5); // the sent bytes arrive first
    connection.reset();
  } else {
    connection.halfClose();
    await Promise.race([connection.untilEnded(), pause(TIME_LIMIT_MS)]);
  }
}

type State = { readonly events: number; readonly temporary: number; readonly descriptors: number };

async function stateOf(dataDir: string, pid: number): Promise<State> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }), { readOnly: true });
  const events = await Array.fromAsync(log.readAll({ streamPrefixes: ['deposit-'] }), ({ type }) => type);
  const incoming = await readdir(path.join(dataDir, 'archives', 'incoming'));
  const pieces = await readdir(path.join(dataDir, 'uploads'), { recursive: true }).catch(() => []);
  const open = await openDescriptors(pid);
  const lasting = open.filter((target) => !/^socket:|^pipe:|^anon_inode:/.test(target));
  const sockets = open.filter((target) => target.startsWith('socket:'));
  return {
    events: events.length,
    temporary: incoming.length + pieces.length,
    descriptors: lasting.length + sockets.length,
  };
}

/** Resolves to the state when it is again as before, or after the time limit. */
async function settledState(dataDir: string, pid: number, before: State): Promise<State> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (;;) {
    const state = await stateOf(dataDir, pid);
    if (differences(before, state).length === 0 || performance.now() > deadline) return state;
    await pause(100);
  }
}

function differences(before: State, after: State): string[] {
  return [
    ...(after.events === before.events
      ? []
      : [`${after.events - before.events} events were caused by aborted uploads.`]),
    ...(after.temporary <= before.temporary
      ? []
      : [`${after.temporary - before.temporary} temporary files were left.`]),
    ...(after.descriptors <= before.descriptors
      ? []
      : [`${after.descriptors - before.descriptors} more descriptors are open than before.`]),
  ];
}
