import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { SERVICE_MAIN, ServiceProcess } from './service-process.ts';

export type NodeRole = 'http' | 'reactors';

export type ClusterOptions = {
  /** What each node does. */
  readonly roles?: readonly NodeRole[];
  /** The program of the service, where it is not the one of this tree. */
  readonly main?: string | undefined;
};

type Node = { readonly folder: string; readonly role: NodeRole; process: ServiceProcess };

const TWO_AND_TWO: readonly NodeRole[] = ['http', 'http', 'reactors', 'reactors'];
/** How much of what a node wrote is quoted. */
const QUOTED = 1500;

/** Nodes that serve clients and nodes that check and load, a process and a data folder each; two and two by default. */
export class ServiceCluster implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #main: string;
  readonly #folder: string;
  readonly #nodes: Node[] = [];
  #added = 0;

  static async start(
    settings: Readonly<Record<string, string>>,
    { roles = TWO_AND_TWO, main = SERVICE_MAIN }: ClusterOptions = {},
  ): Promise<ServiceCluster> {
    await using starting = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(tmpdir(), 'deposit-cluster-'));
    const cluster = starting.use(new ServiceCluster(settings, main, folder));
    await cluster.add(roles);
    starting.move();
    return cluster;
  }

  private constructor(settings: Readonly<Record<string, string>>, main: string, folder: string) {
    this.#settings = settings;
    this.#main = main;
    this.#folder = folder;
  }

  /** Where clients may go. */
  get urls(): readonly string[] {
    return this.#of('http').map(({ process }) => process.url);
  }

  /** The data folder of the first node that serves clients. */
  get dataDir(): string {
    return this.#of('http')[0]?.folder as string;
  }

  /** A sentence for each node that ended by itself. */
  get ended(): readonly string[] {
    return this.#nodes
      .filter(({ process }) => process.hasEnded)
      .map(({ role, process }) => `A node of the role ${role} ended: ${process.said.slice(-QUOTED)}`);
  }

  /** Starts a node for each role. Resolves when all are ready. */
  async add(roles: readonly NodeRole[]): Promise<void> {
    const added = await Promise.allSettled(roles.map((role) => this.#add(role)));
    const failed = added.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Has every node of the role end by the signal, and forgets it. Resolves to the exit codes. */
  async remove(role: NodeRole, signal: NodeJS.Signals): Promise<(number | null)[]> {
    const removed = this.#of(role);
    for (const node of removed) this.#nodes.splice(this.#nodes.indexOf(node), 1);
    return await Promise.all(removed.map(({ process }) => process.end(signal)));
  }

  /** Stops one node of the role in order and starts it again with another program. Resolves to its exit code. */
  async replace(role: NodeRole, index: number, main: string): Promise<number | null> {
    const node = this.#of(role)[index] as Node;
    const code = await node.process.end('SIGTERM');
    node.process = await this.#startProcess(node, main);
    return code;
  }

  /** Kills one of those that check and load, whatever it is at, and starts it again. */
  async killReactors(): Promise<void> {
    const reactors = this.#of('reactors');
    const node = reactors[Math.floor(Math.random() * reactors.length)] as Node;
    await node.process.end('SIGKILL');
    node.process = await this.#startProcess(node);
  }

  /** How many of the nodes say that they are ready. */
  async ready(): Promise<number> {
    const answers = await Promise.all(this.#nodes.map(({ process }) => process.isReady()));
    return answers.filter(Boolean).length;
  }

  /** Stops every node in good order; resolves to their exit codes. */
  stop(): Promise<(number | null)[]> {
    return Promise.all(this.#nodes.map(({ process }) => process.end('SIGTERM')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ process }) => process.end('SIGKILL')));
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #of(wanted: NodeRole): Node[] {
    return this.#nodes.filter(({ role }) => role === wanted);
  }

  async #add(role: NodeRole): Promise<void> {
    const place = { folder: path.join(this.#folder, `node-${this.#added++}`), role };
    this.#nodes.push({ ...place, process: await this.#startProcess(place) });
  }

  /** On another port each time: while a node is down, its port may go to somebody else. */
  async #startProcess({ folder, role }: Omit<Node, 'process'>, main = this.#main): Promise<ServiceProcess> {
    return ServiceProcess.start(folder, await freePort(), { ...this.#settings, DEPOSIT_ROLES: role }, main);
  }
}
