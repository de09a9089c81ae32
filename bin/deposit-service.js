#!/usr/bin/env node
// Runs the service and the commands of its operators: deposit-service COMMAND [arguments]. Plain JavaScript for any
// Node from 18 on: it looks for the Node that the project installs.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
/** Commands that are not scripts/COMMAND.ts, with their files. The image has neither client nor bench. */
const OTHERS = Object.fromEntries(
  Object.entries({ start: 'src/main.ts', bench: 'bench/bench.ts', deposit: 'client/main.ts' })
    .map(([name, file]) => [name, path.join(root, file)])
    .filter(([, file]) => existsSync(file)),
);
/** Commands of developers, which run in the folder of the project. */
const OF_DEVELOPERS = new Set(['bench', 'drills', 'pack-client', 'sbom', 'simulate', 'supply-chain', 'test']);
const [command, ...args] = process.argv.slice(2);

if (command === '--version' || command === '-v') print(versionOf());
else if (command === undefined || command === '--help' || command === '-h') {
  print(`Usage: deposit-service COMMAND [arguments]

Commands: ${commandNames().join(', ')}

"deposit-service COMMAND --help" describes one. "deposit-service start" runs the service.`);
  if (command === undefined) process.exitCode = 2;
} else {
  const words = wordsOf(command);
  const swallowed = words && optionsReadByNpm(command, words);
  if (!words) refuse(`Unknown command '${command}'. "deposit-service --help" lists the commands.`);
  else if (swallowed) refuse(swallowed);
  else await run(words);
}

/** Returns the arguments of Node that run a command; `undefined` for an unknown one. */
function wordsOf(name) {
  if (Object.hasOwn(OTHERS, name)) return [OTHERS[name]];
  return scriptNames().includes(name) ? [path.join(root, 'scripts', `${name}.ts`)] : undefined;
}

function scriptNames() {
  const files = readdirSync(path.join(root, 'scripts'), { withFileTypes: true });
  return files.filter((file) => file.isFile()).map(({ name }) => path.basename(name, '.ts'));
}

function commandNames() {
  return [...scriptNames(), ...Object.keys(OTHERS)]
    .filter((name) => !OF_DEVELOPERS.has(name))
    .toSorted((one, other) => one.localeCompare(other));
}

/** Starts the command on the Node of the project, and ends as it ends. */
async function run(words) {
  const node = await nodeOfProject();
  if (node === undefined) return refuse(`The project is not installed: run "npm ci" in ${root} first.`);
  const child = spawn(node, [...words, ...args], {
    stdio: 'inherit',
    // Paths in arguments count from the folder of the user; npm changes to that of the project.
    cwd: OF_DEVELOPERS.has(command) ? root : (process.env.INIT_CWD ?? process.cwd()),
    env: { ...process.env, DEPOSIT_DATA_DIR: process.env.DEPOSIT_DATA_DIR ?? dataFolder() },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => refuse(`${node} cannot be started: ${error.message}.`));
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    process.removeAllListeners();
  });
}

/** Resolves to the Node that the project installs, else to this one. Ends the process if that is too old. */
async function nodeOfProject() {
  if (!existsSync(path.join(root, 'node_modules/koa')) && !root.includes('node_modules')) return undefined;
  const own = path.join(root, 'node_modules/.bin/node');
  if (existsSync(own)) return own;
  await import('../src/service/process/check-node-version.js');
  return process.execPath;
}

/** Returns the data folder of a checkout, wherever the command runs; that of the working folder of a package. */
function dataFolder() {
  return root.includes('node_modules') ? 'data' : path.join(root, 'data');
}

/** Returns what to write if npm read options that were meant for the command: it passes on only what follows `--`. */
function optionsReadByNpm(name, words) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const source = readFileSync(words.at(-1), 'utf8');
  const known = new Set([...source.matchAll(/--([a-z][a-z-]+)/g)].map(([, option]) => option));
  for (const option of known) {
    const value = process.env[`npm_config_${option.replaceAll('-', '_')}`];
    if (value === undefined || value === '') continue;
    const given = value === 'true' ? `--${option}` : `--${option} ${value}`;
    return `npm read --${option} itself. Write -- before the options: npm run ${name} -- ${given}`;
  }
  return undefined;
}

function versionOf() {
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

function print(text) {
  process.stdout.on('error', ({ code, message }) => {
    if (code === 'EPIPE') return; // the reader has closed the pipe
    process.stderr.write(`Not all of the output could be written: ${message}.\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${text}\n`);
}

function refuse(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 2;
}
