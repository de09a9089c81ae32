import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../processes/free-port.ts';
import { until } from '../processes/until.ts';

/** The folders and the ports that pages name; replaced by free ones when a page is followed. */
const [FOLDER, PORTS] = [/\/tmp\/first-hour-\w+/g, /(?<=127\.0\.0\.1:)8080|8090/g];

/** How long the output of a service may differ from what the page shows. */
const OUTPUT_TIMEOUT_MS = 60_000;

/** The command that installs the project. Who follows pages has run it, since it needs a registry. */
export const INSTALL = 'npm ci';

/**
 * A step of a page: commands and the output that the page shows for them. `service` starts the service in the
 * background, `stop` ends it as Ctrl-C does.
 */
type PageStep =
  | { readonly kind: 'commands' | 'service'; readonly commands: string; readonly output: string | undefined }
  | { readonly kind: 'stop' };

/** Reads the steps of a page: blocks `sh` or `sh service`, each with the block `text` after it, and `<!-- stop -->`. */
function stepsOf(page: string): PageStep[] {
  const parts = page.matchAll(/^```(sh service|sh|text)\n(.*?)^```$|^<!-- (stop) -->$/gms);
  const steps: PageStep[] = [];
  for (const [, kind, text = '', stop] of parts) {
    const last = steps.at(-1);
    if (stop) steps.push({ kind: 'stop' });
    else if (kind !== 'text')
      steps.push({ kind: kind === 'sh' ? 'commands' : 'service', commands: text, output: undefined });
    else if (last && last.kind !== 'stop') steps[steps.length - 1] = { ...last, output: text };
  }
  return steps;
}

/**
 * Follows a page in a shell in an installed clone of the project, with files in the folder. Resolves to the steps whose
 * output differs, as texts.
 */
export async function followPage(file: string, clone: string, folder: string): Promise<readonly string[]> {
  const port = String(await freePort());
  const adapted = (text: string): string => text.replaceAll(FOLDER, folder).replaceAll(PORTS, port);
  await using shell = new Shell(clone, { HOME: folder, DEPOSIT_PORT: port });
  const differences: string[] = [];
  for (const step of stepsOf(adapted(await readFile(path.resolve(clone, file), 'utf8')))) {
    if (step.kind === 'stop') {
      const dataFolder = (await shell.run('echo "${DEPOSIT_DATA_DIR:-data}"')).trim();
      await stopService(path.resolve(clone, dataFolder));
    } else if (step.kind === 'service') {
      await shell.run(`${step.commands.trim()} > ${folder}/service.log 2>&1 &`);
      await until(() => isReady(port));
      differences.push(...(await differencesSoon(step, path.join(folder, 'service.log'))));
    } else if (step.commands.trim() !== INSTALL)
      differences.push(...differencesIn(step, await shell.run(step.commands)));
  }
  return differences;
}

/** Returns the environment without what npm, AVA and the settings of a service have added to it. */
export function newcomerEnvironment(): NodeJS.ProcessEnv {
  const isOwn = (name: string): boolean => !/^(DEPOSIT_|npm_|INIT_CWD$|NODE_|AVA_)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isOwn(name)));
}

/** Compares what the page shows with the output of a service, which may go on after the service is ready. */
async function differencesSoon(step: Exclude<PageStep, { kind: 'stop' }>, log: string): Promise<string[]> {
  const end = performance.now() + OUTPUT_TIMEOUT_MS;
  let differences: string[] = [];
  await until(async () => {
    differences = differencesIn(step, await readFile(log, 'utf8'));
    return differences.length === 0 || performance.now() > end;
  });
  return differences;
}

/** Compares what the page shows with what was printed: a line `…` stands for any lines, `…` in a line for any text. */
function differencesIn(step: Exclude<PageStep, { kind: 'stop' }>, printed: string): string[] {
  const { commands, output } = step;
  if (output === undefined) return [];
  const expected = masked(output)
    .split('\n')
    .map((line) => (line === '…' ? String.raw`(?:.*\n)*?` : `${RegExp.escape(line).replaceAll('…', '.*')}\n`))
    .join('');
  const pattern = step.kind === 'service' ? new RegExp(expected) : new RegExp(`^${expected}$`);
  if (pattern.test(`${masked(printed)}\n`)) return [];
  return [`$ ${commands.trim()}\nshown:\n${masked(output)}\nprinted:\n${masked(printed)}`];
}

/** Replaces what differs each time: times, ids, digests of archives, sizes and durations. */
function masked(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\b[\da-f]{64}\b/g, 'DIGEST')
    .replaceAll(/swh:1:(rev|snp):[\da-f]{40}/g, 'swh:1:$1:ID')
    .replaceAll(/\b\d[\d,.]* (s|ms|min|B|kB|MB|GB|TB|bytes?)\b/g, 'N $1')
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
}

async function isReady(port: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
  return answer?.status === 200;
}

async function stopService(dataFolder: string): Promise<void> {
  const text = readFileSync(path.join(dataFolder, 'operator.json'), 'utf8');
  const { pid } = JSON.parse(text) as { readonly pid: number };
  process.kill(pid, 'SIGINT');
  await until(async () => !isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A shell that keeps its variables from one step to the next. */
class Shell implements AsyncDisposable {
  readonly #process: ChildProcess;
  #output = '';

  constructor(cwd: string, variables: NodeJS.ProcessEnv) {
    const env = { ...newcomerEnvironment(), ...variables };
    this.#process = spawn('bash', [], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
    this.#process.stdin?.write('exec 2>&1\n');
  }

  /** Resolves to everything that the commands have printed. */
  async run(commands: string): Promise<string> {
    this.#output = '';
    this.#process.stdin?.write(`${commands}\necho; echo '<<end>>'\n`);
    await until(async () => this.#output.includes('\n<<end>>\n'));
    return this.#output.slice(0, this.#output.indexOf('\n<<end>>\n'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#process.once('close', () => resolve());
    this.#process.stdin?.end('kill $(jobs -p) 2>/dev/null\n');
    await promise;
  }
}
