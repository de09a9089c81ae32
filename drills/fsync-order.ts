import { hash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { tarOf } from '../testing/archives/archive-builders.ts';
import { TusUploads } from '../testing/http/tus-uploads.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { AnsweredDeposits } from './clients/answered-deposits.ts';
import { type Finding, printProgress, runDrill, skipped } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';
import { Strace, whyNoStrace } from './system-calls/strace.ts';
import { disorder, type Step, type SystemCall, systemCalls } from './system-calls/system-calls.ts';

const HELP = `Looks with strace whether a create is answered 201 only after its bytes and its events are on the disk: the temporary
file is synced, then renamed, then its folder is synced, then the events are written and synced, then the answer is
sent. Small archives, which are rows, and chunks of an upload likewise.

  node drills/fsync-order.ts [--rounds 5]
`;

const OPTIONS = ['-f', '-y', '-s', '70000', '-e'];
const TRACED =
  'trace=write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat';
const LARGE = 300_000;
const SMALL = 3_000;
/** Returns a marker of an archive: enough of its bytes to find where they are written. */
const marker = (): string => `drill-${randomUUID()}`;

type Created = { readonly kind: string; readonly mark: string; readonly sha256: string; readonly id: string };

await runDrill(HELP, { rounds: { full: 5, short: 1 } }, async ({ rounds }) => {
  const reason = whyNoStrace();
  if (reason !== undefined) return skipped(reason);
  return drill(rounds);
});

async function drill(rounds: number): Promise<Finding> {
  await using folder = await drilledFolder('fsync');
  await using service = await ServiceProcess.start(folder.dataDir, await freePort());
  const deposits = new AnsweredDeposits(service.url, []);
  const strace = await Strace.attach([service.pid], [...OPTIONS, TRACED]);
  const created: Created[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const isComplete of [false, true]) {
      created.push(await create(deposits, 'large', LARGE, isComplete));
      created.push(await create(deposits, 'small', SMALL, isComplete));
    }
    printProgress(`round ${round} of ${rounds}: ${created.length} creates`);
  }
  const pieces = await uploadPieces(service.url, rounds);
  await pause(300); // the client has the last answer before strace has seen the write return
  const calls = systemCalls(await strace.detach()).filter(({ result }) => !result.startsWith('-1'));
  await service.end('SIGTERM');
  const broken = [
    ...deposits.faults,
    ...created.flatMap((one) => faultOf(`A create of a ${one.kind} archive`, calls, stepsOf(one))),
    ...pieces.flatMap((piece) => faultOf('A chunk of an upload', calls, pieceSteps(piece))),
    ...foldersNotSynced(calls),
  ];
  return {
    tried: `${created.length} creates, of archives above and below 64 KiB, alone and as forms, and ${pieces.length} chunks of uploads were watched with strace.`,
    held: 'Bytes synced < renamed < folder synced < events written < log synced < 201, each after the one before had returned.',
    broken,
    numbers: {
      creates: created.length,
      chunks: pieces.length,
      calls: calls.length,
      disordered: broken.length,
    },
  };
}

async function create(
  deposits: AnsweredDeposits,
  kind: string,
  bytes: number,
  isComplete: boolean,
): Promise<Created> {
  const mark = marker();
  const archive = tarOf([{ name: 'drill/a.txt', data: mark.padEnd(bytes, 'x') }]);
  const { status, body } = await deposits.deposit(archive, { isComplete });
  if (status !== 201) throw new Error(`A create was answered ${status}: ${body}`);
  const sha256 = hash('sha256', archive);
  return { kind, mark, sha256, id: /<deposit_id>(\d+)</.exec(body)?.[1] ?? '' };
}

/** Sends each upload as one chunk; resolves to the markers and to the path of each. */
async function uploadPieces(url: string, rounds: number): Promise<{ mark: string; upload: string }[]> {
  const uploads = new TusUploads(drillClient(url), 'drill');
  const pieces: { mark: string; upload: string }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const mark = marker();
    const upload = await uploads.whole(Buffer.from(mark.padEnd(LARGE, 'x')));
    pieces.push({ mark, upload: upload.split('/').findLast((part) => part !== '') ?? '' });
  }
  return pieces;
}

function stepsOf({ kind, mark, sha256, id }: Created): Step[] {
  const stored = kind === 'large' ? fileSteps(mark, sha256) : rowSteps(sha256);
  return [
    ...stored,
    {
      what: 'write of the events',
      fits: ({ name, args }) => isWrite(name) && isOf(args, 'event-log.sqlite-wal') && args.includes(sha256),
    },
    { what: 'sync of the log', fits: ({ name, args }) => isSync(name) && isOf(args, 'event-log.sqlite-wal') },
    {
      what: 'answer 201',
      fits: ({ args }) => args.includes('HTTP/1.1 201 ') && args.includes(`/1/drill/${id}/`),
    },
  ];
}

function fileSteps(mark: string, sha256: string): Step[] {
  return [
    {
      what: 'write of the first bytes',
      fits: ({ name, args }) => isWrite(name) && args.includes('/incoming/') && args.includes(mark),
    },
    {
      what: 'sync of the temporary file',
      fits: ({ name, args }) => isSync(name) && args.includes('/incoming/'),
    },
    { what: 'rename', fits: ({ name, args }) => name.startsWith('rename') && args.includes(sha256) },
    {
      what: 'sync of the folder',
      fits: ({ name, args }) => isSync(name) && isOf(args, `/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}`),
    },
  ];
}

function rowSteps(sha256: string): Step[] {
  return [
    {
      what: 'write of the row',
      fits: ({ name, args }) => isWrite(name) && isOf(args, 'small.sqlite-wal') && args.includes(sha256),
    },
    { what: 'sync of the rows', fits: ({ name, args }) => isSync(name) && isOf(args, 'small.sqlite-wal') },
  ];
}

function pieceSteps({ mark, upload }: { mark: string; upload: string }): Step[] {
  return [
    { what: 'write of the first bytes', fits: ({ name, args }) => isWrite(name) && args.includes(mark) },
    { what: 'sync of the upload', fits: ({ name, args }) => isSync(name) && args.includes(upload) },
    { what: 'answer 204', fits: ({ args }) => args.includes('HTTP/1.1 204 ') },
  ];
}

function faultOf(what: string, calls: readonly SystemCall[], steps: readonly Step[]): string[] {
  const fault = disorder(calls, steps);
  return fault === undefined ? [] : [`${what} was out of order: ${fault}.`];
}

/** Returns the new folders that a power cut would lose: those whose parent was not synced. */
function foldersNotSynced(calls: readonly SystemCall[]): string[] {
  const made = calls.filter(({ name, args }) => name.startsWith('mkdir') && args.includes('/v1/sha256/'));
  return made.flatMap(({ args, ended }) => {
    const folder = /"([^"]+)"/.exec(args)?.[1] ?? '';
    const parent = folder.slice(0, folder.lastIndexOf('/'));
    const isSynced = calls.some((call) => call.begun > ended && isSync(call.name) && isOf(call.args, parent));
    return isSynced ? [] : [`The folder ${folder} was made, and its parent was not synced.`];
  });
}

function isWrite(name: string): boolean {
  return ['write', 'writev', 'pwrite64', 'pwritev'].includes(name);
}

function isSync(name: string): boolean {
  return name === 'fsync' || name === 'fdatasync';
}

/** Whether the descriptor of the call has a path with this end. */
function isOf(args: string, end: string): boolean {
  return /^\d+<([^>]*)>/.exec(args)?.[1]?.endsWith(end) === true;
}
