import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { clock } from '../src/tools/clock.ts';

const HELP = `Runs the tests: format, types, lint, supply chain, then the suite. Every step runs, so one call reports everything.

  npm test [-- [--rerun] FILE…]
  npm run test:long [-- --rerun]

FILE: test files instead of the suite, as in test/config/config.test.ts or 'test/http/*.test.ts'.
--long: what takes longer instead: the HTTP suite again on the other engines, several nodes and their faults, the
        log and the deliveries on EventStoreDB, the S3 store, resumable uploads, the console behind its sign-in, clients
        of depositors, tracing, backups, moving between engines, operators' commands in all their ways, objects that
        cannot be read, damaged and tampered logs, archives with costly headers or random changes, clients that are slow
        or disconnect, how services start and what they load, threads that end, processes that crash repeatedly, faults
        of snapshots of views, histories of the simulation, data of older releases, writers killed at more moments; then
        the archive store and some drills on a real MinIO, if MINIO_BIN names one or minio is on the path.
--rerun: runs the files of failed tests once more, alone. What passes then depends on load or time: it is named as flaky,
         and counts as passed.
The last line counts the tests, and a failed step before them as one more that failed.
Exit codes: 0 all passed, 1 something failed, 2 wrong usage.
`;

const CHECKS: readonly (readonly [string, ...string[]])[] = [
  ['biome', 'ci', '--error-on-warnings', '.'],
  ['tsc'],
  ['tsc', '-p', 'src/modules/console/browser'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['node', 'scripts/supply-chain.ts'],
];

const LONG = [
  'test/http-distributed/**/*.test.ts',
  'test/distributed/**/*.test.ts',
  'test/object-store/{killed-puts,s3-*}.test.ts',
  'test/object-store/minio-rules/*.test.ts',
  'test/archives/{costly-headers,many-members}.test.ts',
  'test/client/**/*.test.ts',
  'test/client-families/**/*.test.ts',
  'test/corpus/costly.test.ts',
  'test/deployment/first-hours.test.ts',
  'test/drills/{histories,own-server}.test.ts',
  'test/event-log/eventstoredb/{back-off,calls,connection-fault,deliveries,event-log,shared-group,subscriptions,version}.test.ts',
  'test/event-log/server-rules/*.test.ts',
  'test/event-log/{killed-appends,log-copy,sqlite-damage}.test.ts',
  'test/fuzzing/**/*.test.ts',
  'test/golden/{commands,commands-json}.test.ts',
  'test/http/{cut-downloads,full-views-disk,login-attempts,pages-in-browser,resumable-upload,socket-shutdown,too-many-writes}.test.ts',
  'test/modules/console/browser/**/*.test.ts',
  'test/modules/console/{deposit-api,grants,lists,objects-inside,proof,search}.test.ts',
  'test/modules/resumable-uploads/**/*.test.ts',
  'test/modules/webhooks/{key-health-check,several-nodes}.test.ts',
  'test/reactors/{repeated-crashes,unreadable-objects}.test.ts',
  'test/scripts/{backup,backup-from-s3,backup-keys,deposit-service,groups,history,incomplete-copies,migrate,operator-commands,rebuild,search,supply-chain,usage,webhook,wrong-engines}.test.ts',
  'test/modules/modules.test.ts',
  'test/observability/tracing.test.ts',
  'test/service/{loaded-modules,lost-threads,starting,store-binding}.test.ts',
  'test/simulation/{command,histories,mutations-found}.test.ts',
  'test/sweep/**/*.test.ts',
  'test/upgrade/**/*.test.ts',
  'test/views/snapshot-faults.test.ts',
  'test/verify/{distributed,nothing-hidden,only-reading,replaced-targets,tampering}.test.ts',
];
/** Tests on a real MinIO, which this program starts. */
const [ON_MINIO, ON_MINIO_FILES] = ['test/on-minio.ts', 'test/object-store/real-*.test.ts'];
/** Time without any output after which AVA is interrupted: its own limit is off after a test with a longer one. */
const SILENCE_MS = 5 * 60_000;
/** Options for files that wait more than they compute. */
const AT_ONCE = ['--concurrency', '4'];

await runCommand(
  HELP,
  async (args) => {
    const { values, positionals } = readArguments(args, {
      long: { type: 'boolean' },
      rerun: { type: 'boolean' },
    });
    let [passed, failed] = [0, 0];
    const flaky: string[] = [];
    const failures: string[] = [];
    const files = filesOf(positionals, values.long);
    for (const [command, ...given] of CHECKS) {
      const { code } = await run(command, given);
      process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}: ${[command, ...given].join(' ')}\n`);
      if (code !== 0) failed += 1;
    }
    const suites = [['ava', ...AT_ONCE, ...files], ...(values.long ? [['node', ON_MINIO]] : [])] as const;
    for (const [command = '', ...given] of suites) {
      const first = await run(command, given);
      const again =
        values.rerun === true && first.failures.length > 0
          ? await run(command, command === 'ava' ? alone(first.failures) : given)
          : first;
      passed += first.passed + Math.max(0, first.failures.length - again.failures.length);
      failures.push(...again.failures);
      if (again !== first)
        flaky.push(...first.failures.filter((failure) => !isAmong(again.failures, failure)));
    }
    for (const failure of flaky) process.stdout.write(`\nFLAKY: ${failure}`);
    for (const failure of failures) process.stdout.write(`\nFAILED: ${failure}`);
    failed += failures.length;
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
    return failed === 0 && passed > 0 ? 0 : 1;
  },
  { mayBeBare: true },
);

function filesOf(named: readonly string[], long = false): readonly string[] {
  if (named.length === 0)
    return long ? LONG : ['test/**/*.test.ts', ...[...LONG, ON_MINIO_FILES].map((files) => `!${files}`)];
  if (long) throw new UsageError('Name files, or --long.');
  const missing = named.find((file) => !/[*?[{!]/.test(file) && !existsSync(file.replace(/:[\d,-]+$/, '')));
  if (missing !== undefined) throw new UsageError(`${missing} not found.`);
  return named;
}

/** Runs one step with visible output, and collects what AVA marks; its summary omits passed tests if one failed. */
async function run(
  command: string,
  args: readonly string[],
): Promise<{ code: number; passed: number; failures: readonly string[] }> {
  // Every test file and every command in it is a process, which would otherwise strip the types of all sources again.
  const env = { ...process.env, NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/compile') };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const silence = clock.setTimeout(() => child.kill('SIGINT'), SILENCE_MS); // AVA then names the tests that it waits for
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    silence.refresh();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  }).finally(() => clock.clearTimeout(silence));
  const failures = Array.from(
    output.matchAll(/^\s+✘ (.*)$|^\s+(\d+ tests were pending in .*)$/gm),
    ([, failure = '', pending]) => pending ?? failure,
  ).filter((failure) => failure !== 'Exiting due to SIGINT');
  if (failures.length === 0 && code !== 0) failures.push(`${command} ended with ${code}`);
  return { code, passed: [...output.matchAll(/^\s+✔ /gm)].length, failures };
}

/** Whether a failure occurred again; a test that runs alone is named without its file. */
function isAmong(again: readonly string[], failure: string): boolean {
  return again.some((other) => failure.endsWith(other.replace('[fail]: ', '')));
}

/** Returns the arguments with which AVA runs the files of these failures, one after another. A failure of no file runs all. */
function alone(failures: readonly string[]): readonly string[] {
  const files = failures.map((failure) => {
    const names = failure.replace('[fail]: ', '').split(' › ');
    const files = names.map((_, index) => `test/${names.slice(0, index + 1).join('/')}.test.ts`);
    return (
      /test\/\S+\.test\.ts/.exec(failure)?.[0] ??
      files.find((file) => existsSync(file)) ??
      'test/**/*.test.ts'
    );
  });
  return ['--serial', '--concurrency', '1', ...new Set(files)];
}
