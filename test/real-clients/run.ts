import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { helloTar, helloZip } from '../../testing/http/deposit-bodies.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { deposit, notifiedService, notify } from '../../testing/service/notified-service.ts';
import { type Environment, javaClients, pythonClients } from './environments.ts';

/**
 * Runs real clients, of pinned versions, against a service over HTTP. Each program prints a line for each of its checks;
 * the last line counts them. A stage whose tools are not there is not run; one that cannot be installed although they
 * are counts as failed.
 */
const HERE = import.meta.dirname;
/** Time limit for one program, in milliseconds. */
const PROGRAM_MS = 840_000;
/** GNU tar writes blocks of this size. */
const TAR_BLOCK_BYTES = 10_240;

type Stage = {
  readonly name: string;
  readonly environment: () => Promise<Environment>;
  /** Returns the programs of the stage, each with its arguments. */
  readonly programs: (folder: string) => readonly (readonly [string, ...string[]])[];
};

const STAGES: readonly Stage[] = [
  {
    name: 'tus-js-client',
    environment: async () => ({ folder: HERE }),
    programs: (folder) => [[process.execPath, path.join(folder, 'tus-js-client.ts')]],
  },
  {
    name: 'clients in Python',
    environment: pythonClients,
    programs: () =>
      ['swh_deposit', 'tuspy_upload', 'webhook_receiver', 'schemathesis_run'].map(
        (name) => ['python3', path.join(HERE, 'python', `${name}.py`)] as const,
      ),
  },
  {
    name: 'sword2-client for Java',
    environment: javaClients,
    programs: (folder) => [
      ['java', '-cp', path.join(folder, '*'), path.join(HERE, 'java/Sword2Client.java')],
    ],
  },
];

const { service, keyFile } = await notifiedService();
await using _service = service;
const alice = await service.register('alice', { collections: ['software'] });
await service.register('bob', { collections: ['software'] });
const receiver = {
  url: `http://127.0.0.1:${await freePort()}/`,
  secret: `whsec_${Buffer.alloc(24, 'k').toString('base64')}`,
};
await notify(service, 'bob', receiver, keyFile);
const files = await mkdtemp(path.join(tmpdir(), 'real-clients-'));
await writeFile(path.join(files, 'tree.zip'), helloZip);
const blocks = Math.ceil(helloTar.length / TAR_BLOCK_BYTES);
await writeFile(path.join(files, 'tree.tar'), Buffer.concat([helloTar], blocks * TAR_BLOCK_BYTES));
const depositId = await deposit(alice, 'software');
await alice.waitFor(`/1/software/${depositId}/status/`, 'done');

let [passed, failed] = [0, 0];
for (const { name, environment, programs } of STAGES) {
  const found = await environment();
  if ('missing' in found) {
    process.stdout.write(`NOT RUN: ${name}: ${found.missing}\n`);
    if (found.isFault) failed += 1;
    continue;
  }
  for (const program of programs(found.folder)) await runProgram(program, found.folder);
}
await rm(files, { recursive: true, force: true });
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function runProgram([program, ...args]: readonly [string, ...string[]], folder: string): Promise<void> {
  const isReceiver = args.some((arg) => arg.includes('webhook_receiver'));
  const child = spawn(program, args, {
    env: {
      ...process.env,
      LC_ALL: 'C.UTF-8', // else Java reads and writes ASCII where the environment has no language
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      SERVICE_URL: service.url,
      SERVICE_COLLECTION: 'software',
      SERVICE_CLIENT: isReceiver ? 'bob' : 'alice',
      SERVICE_PASSWORD: 'secret',
      SERVICE_DEPOSIT: String(depositId),
      SERVICE_FILES: files,
      WEBHOOK_PORT: new URL(receiver.url).port,
      WEBHOOK_SECRET: receiver.secret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PROGRAM_MS,
  });
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', resolve).once('error', () => resolve(null)),
  );
  const before = { passed, failed };
  for await (const line of createInterface({ input: child.stdout })) {
    process.stdout.write(`${line}\n`);
    if (line.startsWith('  ✔ ')) passed += 1;
    if (line.startsWith('  ✘ ')) failed += 1;
  }
  const code = await ended;
  const isSilent = passed + failed === before.passed + before.failed;
  if (failed === before.failed && (code !== 0 || isSilent)) {
    failed += 1;
    process.stdout.write(`  ✘ ${[program, ...args].join(' ')} ended with ${code}\n`);
  }
}
