import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

/**
 * Packs the command-line client, installs the package in an empty folder, and runs the tests of the client from there on
 * each supported Node: those that npm installs, in the versions below. What cannot be installed is reported, and fails
 * with CI set.
 */
const NODES = ['20.20.2', '22.23.3', '26.10.0'];
/** The tests that run the client as a process of its own. */
const FILES = ['asking', 'kept-uploads', 'losing-connections', 'servers', 'uploading'];
const [MAX_BYTES, MAX_SECONDS] = [2_000_000, 60];

const run = promisify(execFile);
let [passed, failed] = [0, 0];
const root = path.join(import.meta.dirname, '..');
const folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
try {
  const packing = ['scripts/pack-client.ts', '--output', path.join(folder, 'packed'), '--json']; // a new folder
  const packed = await run('sh', ['-c', 'umask 077 && exec node "$@"', 'sh', ...packing], { cwd: root });
  const { file, unpackedBytes } = JSON.parse(packed.stdout) as { file: string; unpackedBytes: number };
  const { stdout: members } = await run('tar', ['-tvzf', file]);
  check('all files are readable for everyone', !/^(?!-rw[-x]r-[-x]r-[-x])/m.test(members.trim()));
  const client = path.join(folder, 'client');
  const begun = performance.now();
  await install(client, file);
  const seconds = (performance.now() - begun) / 1000;
  console.log(`${path.basename(file)}: ${unpackedBytes} bytes, installed in ${seconds.toFixed(1)} s.`);
  check('the package is small, and installed in seconds', unpackedBytes < MAX_BYTES && seconds < MAX_SECONDS);
  const { stdout: listed } = await run('npm', ['ls', '--all', '--parseable'], { cwd: client });
  check('the package has no dependencies', listed.trim().split('\n').length === 2);
  for (const version of NODES) {
    const node = await installedNode(version);
    if (node === undefined) continue;
    const settings = {
      TESTED_CLIENT: path.join(client, 'node_modules', 'source-deposit-client', 'deposit.js'),
      TESTED_CLIENT_NODE: node,
    };
    console.log(`The client on Node ${version}:`);
    const files = FILES.map((name) => `test/client/${name}.test.ts`);
    const child = spawn('ava', ['--concurrency', '2', ...files], {
      cwd: root,
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'close');
    const output = await text(child.stdout.on('data', (chunk: Buffer) => process.stdout.write(chunk)));
    const failures = output.match(/^\s+✘ /gm)?.length ?? 0;
    passed += output.match(/^\s+✔ /gm)?.length ?? 0;
    failed += Math.max(failures, (await exited)[0] === 0 ? 0 : 1);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function check(what: string, holds: boolean): void {
  console.log(`  ${holds ? '✔' : '✘'} ${what}`);
  if (holds) passed += 1;
  else failed += 1;
}

/** Resolves to the program, as its package of this platform has it. */
async function installedNode(version: string): Promise<string | undefined> {
  if (process.versions.node === version) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const place = path.join(folder, version);
  try {
    await install(place, `${name}@${version}`);
    return path.join(place, 'node_modules', name, 'bin', 'node');
  } catch (error) {
    console.log(`NOT RUN: the client on Node ${version}: ${(error as Error).message.split('\n')[0]}`);
    if (process.env.CI) failed += 1;
    return undefined;
  }
}

async function install(place: string, what: string): Promise<void> {
  await run('npm', ['install', '--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', what]);
}
