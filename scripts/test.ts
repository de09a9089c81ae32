import { spawn } from 'node:child_process';

/**
 * The whole test command: format, types, lint, then the suite. Every step runs, so that one call tells
 * everything; the closing line counts the tests, and a failed step before them as one more that failed.
 */
const CHECKS: readonly (readonly [string, ...string[]])[] = [
  ['biome', 'ci', '--error-on-warnings', '.'],
  ['tsc'],
  ['oxlint', '--type-aware', '--deny-warnings'],
];

let [passed, failed] = [0, 0];
for (const [command, ...args] of CHECKS) {
  const { code } = await run(command, args);
  process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}: ${[command, ...args].join(' ')}\n`);
  if (code !== 0) failed += 1;
}
const suite = await run('ava', process.argv.slice(2));
passed += count(suite.output, /^\s+✔ /gm);
failed += Math.max(count(suite.output, /^\s+✘ /gm), suite.code === 0 ? 0 : 1);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Runs one step in sight of the person, keeping what it says. */
async function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
  return { code, output };
}

/** AVA marks each test in a line; its summary leaves out what passed when something failed. */
function count(output: string, mark: RegExp): number {
  return [...output.matchAll(mark)].length;
}
