import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { ServiceProcess } from './service-process.ts';

type Node = { readonly folder: string; readonly roles: string; process: ServiceProcess };

/** Two nodes that serve clients and two that check and load: a process and a data folder each. */
export class ServiceCluster implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #nodes: Node[] = [];

  static async start(settings: Readonly<Record<string, string>>): Promise<ServiceCluster> {
    await using starting = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(tmpdir(), 'deposit-cluster-'));
    const cluster = starting.use(new ServiceCluster(settings, folder));
    const roles = ['http', 'http', 'reactors', 'reactors'];
    const added = await Promise.allSettled(roles.map((role, number) => cluster.#add(role, number)));
    const failed = added.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    starting.move();
    return cluster;
  }

  private constructor(settings: Readonly<Record<string, string>>, folder: string) {
    this.#settings = settings;
    this.#folder = folder;
  }

  /** Where clients may go. */
  get urls(): readonly [string, string] {
    const [one, other] = this.#nodes
      .filter(({ roles }) => roles === 'http')
      .map(({ process }) => process.url);
    return [one as string, other as string];
  }

  /** Kills one of the two that check and load, whatever it is at, and starts it again. */
  async killReactors(): Promise<void> {
    const reactors = this.#nodes.filter(({ roles }) => roles === 'reactors');
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
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #add(roles: string, number: number): Promise<void> {
    const place = { folder: path.join(this.#folder, `node-${number}`), roles };
    this.#nodes.push({ ...place, process: await this.#startProcess(place) });
  }

  /** On another port each time: while a node is down, its port may go to somebody else. */
  async #startProcess({ folder, roles }: Omit<Node, 'process'>): Promise<ServiceProcess> {
    return ServiceProcess.start(folder, await freePort(), { ...this.#settings, DEPOSIT_ROLES: roles });
  }
}
