import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServiceProcess } from '../../drills/service/service-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { type FormPart, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { freePort } from '../../testing/processes/free-port.ts';

/** The end of a deposit: refused at upload, or with a final status. */
export type Ending = {
  readonly outcome: string;
  /** Status of the answer to the upload. */
  readonly status: number;
  readonly reason: string;
  readonly swhid: string;
};

/** The service as a separate process, so that its memory can be measured and it may crash. */
export class CorpusService implements AsyncDisposable {
  readonly #process: ServiceProcess;
  readonly #folder: string;
  readonly client: TestClient;

  /** Starts with a client whose deposits must have a URL of this domain. */
  static async start(domain = 'corpus.example'): Promise<CorpusService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'deposit-corpus-'));
    await registerCorpusClient(folder, domain);
    return new CorpusService(await ServiceProcess.start(folder, await freePort()), folder);
  }

  private constructor(service: ServiceProcess, folder: string) {
    this.#process = service;
    this.#folder = folder;
    this.client = new TestClient(service.url, 'corpus');
  }

  /** Sends archive and entry in one final request and waits for the end of the deposit. */
  async deposit(archive: FormPart, entry: FormPart): Promise<Ending> {
    const answer = await this.client.post('/1/corpus/', formOf([archive, entry]), formType);
    const body = await answer.text();
    if (answer.status !== 201)
      return { outcome: 'refused', status: answer.status, reason: textOf(body, 'summary'), swhid: '' };
    const id = textOf(body, 'deposit_id');
    const last = await this.client.waitFor(`/1/corpus/${id}/status/`, 'done', 'rejected', 'failed');
    return {
      outcome: textOf(last, 'deposit_status'),
      status: answer.status,
      reason: textOf(last, 'deposit_status_detail'),
      swhid: textOf(last, 'deposit_swh_id'),
    };
  }

  isReady(): Promise<boolean> {
    return this.#process.isReady();
  }

  /** Resolves to its peak of memory, in MiB. */
  async peakMemory(): Promise<number> {
    const status = await readFile(`/proc/${this.#process.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function registerCorpusClient(folder: string, domain: string): Promise<void> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const administration = new AdminCommands(log, { kind: 'operator', name: 'corpus' });
  await administration.registerClient('corpus', 'secret');
  await administration.client({ type: 'SetDomain', client: 'corpus', domain });
  await administration.grant('corpus', 'corpus');
}

/** Returns the text of the first element of this name, in the default namespace. */
function textOf(body: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(body)?.[1] ?? '';
}
