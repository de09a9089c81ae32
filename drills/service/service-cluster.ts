import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../testing/processes/free-port.ts';
import { type Scratch, scratchFolder } from './drilled-service.ts';
import { SERVICE_MAIN, ServiceProcess } from './service-process.ts';

/** The value of DEPOSIT_ROLES. */
export type NodeRole = 'http' | 'reactors' | 'http,reactors';

/** The environment of a node; a function if nodes differ, by their number in the order of their start. */
export type NodeSettings = Settings | ((node: number) => Settings);

type Settings = Readonly<Record<string, string>>;

export type ClusterOptions = {
  /** The role of each node. */
  readonly roles?: readonly NodeRole[];
  /** The program of the service, if it is not the one of this tree. */
  readonly main?: string | undefined;
};

type Node = {
  /** In the order in which nodes were added. */
  readonly number: number;
  readonly folder: string;
  readonly role: NodeRole;
  readonly settings: Settings;
  process: ServiceProcess;
};

const TWO_AND_TWO: readonly NodeRole[] = ['http', 'http', 'reactors', 'reactors'];
/** Number of characters of a node's output that are quoted. */
const QUOTED = 1500;

/**
 * Nodes that serve clients and nodes that check and load, each with its own process and data folder; two and two by
 * default.
 */
export class ServiceCluster implements AsyncDisposable {
  readonly #settings: NodeSettings;
  readonly #main: string;
  readonly #folder: Scratch;
  readonly #nodes: Node[] = [];
  #added = 0;

  static async start(
    settings: NodeSettings,
    { roles = TWO_AND_TWO, main = SERVICE_MAIN }: ClusterOptions = {},
  ): Promise<ServiceCluster> {
    await using starting = new AsyncDisposableStack();
    const folder = await scratchFolder('cluster');
    const cluster = starting.use(new ServiceCluster(settings, main, folder));
    await cluster.add(roles);
    starting.move();
    return cluster;
  }

  private constructor(settings: NodeSettings, main: string, folder: Scratch) {
    this.#settings = settings;
    this.#main = main;
    this.#folder = folder;
  }

  /** Addresses for clients. */
  get urls(): readonly string[] {
    return this.#of('http').map(({ process }) => process.url);
  }

  /** Addresses that answer the readiness of every node. */
  get everyUrl(): readonly string[] {
    return this.#nodes.map(({ process }) => process.url);
  }

  /** The data folder of the first node that serves clients. */
  get dataDir(): string {
    return this.dataDirOf('http');
  }

  /** Returns the data folder of the first node of the role. */
  dataDirOf(role: NodeRole): string {
    return this.#of(role)[0]?.folder as string;
  }

  /** Returns a sentence for each node that ended by itself. */
  get ended(): readonly string[] {
    return this.#nodes
      .filter(({ process }) => process.hasEnded)
      .map(({ role, process }) => `A node of the role ${role} ended: ${process.said.slice(-QUOTED)}`);
  }

  /** Starts a node for each role. Resolves when all are ready. */
  async add(roles: readonly NodeRole[]): Promise<void> {
    const added = await Promise.allSettled(roles.map((role) => this.#add(role)));
    this.#nodes.sort((one, other) => one.number - other.number); // they are ready in any order
    const failed = added.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Ends every node of the role by the signal and removes it. Resolves to the exit codes. */
  async remove(role: NodeRole, signal: NodeJS.Signals): Promise<(number | null)[]> {
    const removed = this.#of(role);
    for (const node of removed) this.#nodes.splice(this.#nodes.indexOf(node), 1);
    return await Promise.all(removed.map(({ process }) => process.end(signal)));
  }

  /** Stops one node of the role and starts it again with another program. Resolves to its exit code. */
  async replace(role: NodeRole, index: number, main: string): Promise<number | null> {
    const node = this.#of(role)[index] as Node;
    const code = await node.process.end('SIGTERM');
    node.process = await this.#startProcess(node, main);
    return code;
  }

  /** Kills one node of the role and starts it again after this time. */
  async kill(role: NodeRole, index: number, downMs = 0): Promise<void> {
    const node = this.#of(role)[index] as Node;
    await node.process.end('SIGKILL');
    await pause(downMs);
    node.process = await this.#startProcess(node);
  }

  /** Returns the address of one node of the role. */
  urlOf(role: NodeRole, index: number): string {
    return (this.#of(role)[index] as Node).process.url;
  }

  /** Resolves to the number of nodes that are ready. */
  async ready(): Promise<number> {
    const answers = await Promise.all(this.#nodes.map(({ process }) => process.isReady()));
    return answers.filter(Boolean).length;
  }

  /** Stops every node gracefully; resolves to a sentence for each exit code that is not 0. */
  async stop(): Promise<string[]> {
    const codes = await Promise.all(this.#nodes.map(({ process }) => process.end('SIGTERM')));
    return codes.filter((code) => code !== 0).map((code) => `A node ended with ${code} after SIGTERM.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ process }) => process.end('SIGKILL')));
    await this.#folder[Symbol.asyncDispose]();
  }

  #of(wanted: NodeRole): Node[] {
    return this.#nodes.filter(({ role }) => hasRole(role, wanted));
  }

  async #add(role: NodeRole): Promise<void> {
    const number = this.#added++;
    const settings = typeof this.#settings === 'function' ? this.#settings(number) : this.#settings;
    const place = { number, folder: path.join(this.#folder.path, `node-${number}`), role, settings };
    this.#nodes.push({ ...place, process: await this.#startProcess(place) });
  }

  /** Starts it on another port each time: while a node is down, another process may be given its port. */
  async #startProcess(
    { folder, role, settings }: Omit<Node, 'process' | 'number'>,
    main = this.#main,
  ): Promise<ServiceProcess> {
    return ServiceProcess.start(folder, await freePort(), { ...settings, DEPOSIT_ROLES: role }, main);
  }
}

/** Returns whether a node has all roles that are wanted. */
export function hasRole(role: NodeRole, wanted: NodeRole): boolean {
  return wanted.split(',').every((one) => role.split(',').includes(one));
}
