import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../processes/free-port.ts';
import { until } from '../service/running-service.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** The folder and the port that a page names; replaced by free ones when the page is followed. */
const [FOLDER, PORT] = ['/tmp/first-hour', '8090'];

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

/** Follows a page in a shell in the folder of the project. Resolves to the steps whose output differs, as texts. */
export async function followPage(file: string, folder: string): Promise<readonly string[]> {
  const port = String(await freePort());
  const adapted = (text: string): string => text.replaceAll(FOLDER, folder).replaceAll(PORT, port);
  await using shell = new Shell();
  const differences: string[] = [];
  for (const step of stepsOf(adapted(await readFile(path.resolve(ROOT, file), 'utf8')))) {
    if (step.kind === 'stop') await stopService(folder);
    else if (step.kind === 'service') {
      await shell.run(`${step.commands.trim()} > ${folder}/service.log 2>&1 &`);
      await until(() => isReady(port));
      const log = await readFile(path.join(folder, 'service.log'), 'utf8');
      differences.push(...differencesIn(step, log));
    } else differences.push(...differencesIn(step, await shell.run(step.commands)));
  }
  return differences;
}

/** Compares what the page shows with what was printed: a line `…` stands for any lines, `…` in a line for any text. */
function differencesIn(step: Exclude<PageStep, { kind: 'stop' }>, printed: string): string[] {
  const { commands, output } = step;
  if (output === undefined) return [];
  const expected = masked(output)
    .split('\n')
    .map((line) => (line === '…' ? String.raw`(?:.*\n)*?` : `${escaped(line).replaceAll('…', '.*')}\n`))
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

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

async function isReady(port: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
  return answer?.status === 200;
}

async function stopService(folder: string): Promise<void> {
  const text = readFileSync(path.join(folder, 'data/operator.json'), 'utf8');
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

  constructor() {
    const env = { ...process.env };
    for (const name of Object.keys(env)) if (name.startsWith('DEPOSIT_')) delete env[name];
    this.#process = spawn('bash', [], { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'inherit'] });
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
