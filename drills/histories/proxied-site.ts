import path from 'node:path';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { EngineProcesses } from '../engines/engine-processes.ts';
import { TcpFaultProxy } from '../engines/tcp-fault-proxy.ts';
import { DRILL_PASSWORD, registerIn, scratchFolder } from '../service/drilled-service.ts';
import { hasRole, type NodeRole, ServiceCluster } from '../service/service-cluster.ts';
import type { Target } from './recorded-requests.ts';

/** Where a proxy stands: between clients and a node, or between a node and an engine. */
export type Link = 'clients' | 'log' | 'store';

/** A node and the proxies of its connections; only the first two nodes have clients. */
export type ProxiedNode = {
  readonly name: string;
  readonly number: number;
  readonly role: NodeRole;
  /** Among the nodes of its role. */
  readonly index: number;
  readonly proxies: Readonly<Record<Link, readonly TcpFaultProxy[]>>;
  isDown: boolean;
};

const SITES = {
  'two-and-two': ['http', 'http', 'reactors', 'reactors'],
  'two-of-both': ['http,reactors', 'http,reactors'],
} as const satisfies Record<string, readonly NodeRole[]>;

export type SiteName = keyof typeof SITES;

/** How long a piece takes on a slow connection. */
const DELAY_MS = 150;

/**
 * Two nodes for clients and two reactor nodes, or two nodes with both roles, on three event log servers and an S3 server,
 * all of them processes. Each node has proxies of its own on all its connections. The node reaches the log at an address
 * of its own, so that the servers name each other to it by its proxies.
 */
export class ProxiedSite implements AsyncDisposable {
  readonly engines: EngineProcesses;
  readonly cluster: ServiceCluster;
  readonly nodes: readonly ProxiedNode[];
  readonly #opened: AsyncDisposableStack;

  static async start(name: SiteName): Promise<ProxiedSite> {
    await using opened = new AsyncDisposableStack();
    const folder = opened.use(await scratchFolder('histories')).path;
    const logArgs = ['--nodes', '3', '--file', path.join(folder, 'log.sqlite')];
    const engines = opened.use(await EngineProcesses.start({ logArgs }));
    await using log = await openLog(readConfig(engines.settings));
    await registerIn(log, 'drill', DRILL_PASSWORD);
    const nodes: ProxiedNode[] = [];
    const roles = SITES[name];
    for (const [number, role] of roles.entries())
      nodes.push(await proxiedNode(number, role, engines, opened));
    const settings = nodes.map((node) => settingsOf(node, engines));
    const cluster = opened.use(
      await ServiceCluster.start((number) => settings[number] as Record<string, string>, { roles }),
    );
    const site = new ProxiedSite(engines, cluster, nodes, opened.move());
    site.#aim();
    return site;
  }

  private constructor(
    engines: EngineProcesses,
    cluster: ServiceCluster,
    nodes: readonly ProxiedNode[],
    opened: AsyncDisposableStack,
  ) {
    this.engines = engines;
    this.cluster = cluster;
    this.nodes = nodes;
    this.#opened = opened;
  }

  /** The nodes that accept connections of clients now. */
  get targets(): readonly Target[] {
    return this.nodes
      .filter(({ role, isDown }) => hasRole(role, 'http') && !isDown)
      .map(({ name, proxies }) => ({ name, url: `http://127.0.0.1:${proxies.clients[0]?.port}` }));
  }

  /** Kills a node by SIGKILL and starts it again after this time. */
  async kill(node: ProxiedNode, downMs: number): Promise<void> {
    node.isDown = true;
    await this.cluster.kill(node.role, node.index, downMs);
    this.#aim();
    node.isDown = false;
  }

  /** A node listens on another port after each start. */
  #aim(): void {
    for (const [index, url] of this.cluster.urls.entries()) {
      const [proxy] = this.nodes[index]?.proxies.clients ?? [];
      if (proxy) proxy.target = Number(new URL(url).port);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

async function proxiedNode(
  number: number,
  role: NodeRole,
  { settings }: EngineProcesses,
  opened: AsyncDisposableStack,
): Promise<ProxiedNode> {
  const to = async (target: number, host?: string): Promise<TcpFaultProxy> => {
    const place = host === undefined ? {} : { host, port: target };
    return opened.use(await TcpFaultProxy.to(target, { ...place, delayMs: DELAY_MS }));
  };
  const ofLog = portsIn(settings['DEPOSIT_EVENT_LOG']).map((port) => to(port, addressOf(number)));
  const ofStore = portsIn(settings['DEPOSIT_ARCHIVE_STORE']).map((port) => to(port));
  return {
    name: `${role}-${(number % 2) + 1}`,
    number,
    role,
    index: number % 2,
    proxies: {
      clients: hasRole(role, 'http') ? [await to(0)] : [],
      log: await Promise.all(ofLog),
      store: await Promise.all(ofStore),
    },
    isDown: false,
  };
}

/** Returns what the node has in its environment: the addresses of its proxies. */
function settingsOf(node: ProxiedNode, { settings }: EngineProcesses): Record<string, string> {
  const [store] = node.proxies.store;
  const { number } = node;
  return {
    ...settings,
    DEPOSIT_EVENT_LOG: settings['DEPOSIT_EVENT_LOG']?.replaceAll('127.0.0.1', addressOf(number)) ?? '',
    DEPOSIT_ARCHIVE_STORE: settings['DEPOSIT_ARCHIVE_STORE']?.replace(/:\d+\//, `:${store?.port}/`) ?? '',
  };
}

/** Every address of 127.0.0.0/8 is this machine. */
function addressOf(number: number): string {
  return `127.0.0.${11 + number}`;
}

function portsIn(address = ''): number[] {
  return [...address.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
}
