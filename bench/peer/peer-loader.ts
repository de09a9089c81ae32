import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { installPeer, PYTHON } from './install-peer.ts';

/** Niceness of the archive workers of the service. */
const NICENESS = 10;

/** The identifier of an archive, and the resources that a loader used for it. */
export type Loaded = {
  /** Id of the root directory, 40 hex digits. */
  readonly directory: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Resident memory at its peak since the loader was started, in MiB. */
  readonly peakMemory: number;
};

/**
 * The loader of Software Heritage for archives: it unpacks one into a folder and identifies what is there. The folder is
 * in memory where the system has one, so that its disk does not count. It has the priority of the service's archive
 * workers.
 */
export class PeerLoader implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #answers: Interface;
  readonly #folder: string;
  readonly #ended: Promise<void>;

  /** Installs the peer once, into the cache. @throws {NotMeasured} it cannot be installed here */
  static async start(cache: string): Promise<PeerLoader> {
    const python = await installPeer(cache);
    const folder = await mkdtemp(path.join(folderInMemory(), 'deposit-peer-'));
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const child = spawn(python, [path.join(PYTHON, 'load_archives.py'), folder], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    setPriority(child.pid ?? 0, NICENESS);
    return new PeerLoader(child, createInterface({ input: child.stdout }), folder);
  }

  private constructor(child: ChildProcess, answers: Interface, folder: string) {
    this.#child = child;
    this.#answers = answers;
    this.#folder = folder;
    this.#ended = once(child, 'exit').then(() => undefined);
  }

  async load(file: string): Promise<Loaded> {
    this.#child.stdin?.write(`${file}\n`);
    const line = once(this.#answers, 'line') as Promise<[string]>;
    const answer = await Promise.race([line, this.#ended]);
    if (answer === undefined) throw new Error('The loader of the peer has ended.');
    return JSON.parse(answer[0]) as Loaded; // written by load_archives.py
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function folderInMemory(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
