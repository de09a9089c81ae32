import { setTimeout as pause } from 'node:timers/promises';
import type { TcpFault } from '../engines/tcp-fault-proxy.ts';
import { printProgress } from '../frame/drill.ts';
import { notReadyBecause } from '../service/readiness.ts';
import { hasRole, type NodeRole } from '../service/service-cluster.ts';
import type { Operation } from './operation.ts';
import type { Link, ProxiedNode, ProxiedSite } from './proxied-site.ts';

/** A time, in microseconds, in which nodes may not reach the log, or may read from a leader that was deposed. */
type LogFault = { readonly nodes: readonly ProxiedNode[]; readonly from: number; until: number };

type Fault = { readonly name: string; readonly happen: () => Promise<void> };

const TCP_FAULTS: readonly TcpFault[] = ['refused', 'reset', 'silent', 'slow'];
/** The longest time between the end of a fault and the next one: of the log, and of everything else. */
const [LOG_CALM_MS, CALM_MS] = [8000, 1500];
/** How long a node may need to reach the log again, and how long its readiness is remembered. */
const [READY_MS, REMEMBERED_MS] = [30_000, 600];
/** For this time a node waits for the log before it answers a read from its view, also on a machine that is slow. */
const LOG_ANSWER_MS = 1000;

/**
 * Faults at random moments. Those of the log have times without any in between, in which reads have to show the present
 * state, whatever else happens.
 */
export class SiteFaults {
  /** The number of faults by name. */
  readonly counts = new Map<string, number>();
  readonly #site: ProxiedSite;
  readonly #random: () => number;
  readonly #logFaults: LogFault[] = [];

  constructor(site: ProxiedSite, random: () => number) {
    this.#site = site;
    this.#random = random;
  }

  /** Lets faults happen until the signal aborts. Resolves when all are over. */
  async run(signal: AbortSignal): Promise<void> {
    const ofLog = [...this.#clusterFaults(), ...this.#connectionFaults('log')];
    const others = [
      ...this.#connectionFaults('clients'),
      ...this.#connectionFaults('store'),
      this.#kill('http'),
      this.#kill('http'),
      this.#kill('reactors'),
    ];
    await Promise.all([this.#run(ofLog, LOG_CALM_MS, signal), this.#run(others, CALM_MS, signal)]);
  }

  /** Whether the node may have read the log in vain, or from a leader that was deposed. */
  mayLag({ node, call, return: end }: Operation): boolean {
    const isSlow = end - call >= LOG_ANSWER_MS * 1000;
    return (
      isSlow ||
      this.#logFaults.some(
        ({ nodes, from, until }) => nodes.some(({ name }) => name === node) && call < until && end > from,
      )
    );
  }

  async #run(faults: readonly Fault[], calmMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { name, happen } of shuffled(faults, this.#random)) {
        await pause(this.#random() * calmMs);
        if (signal.aborted) return;
        printProgress(`fault: ${name}`);
        this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
        await happen();
      }
    }
  }

  #kill(role: NodeRole): Fault {
    const happen = () => this.#site.kill(this.#nodeOf(role), this.#random() * 1000);
    return { name: `${role} node killed`, happen };
  }

  #clusterFaults(): Fault[] {
    const command = (name: string, line: () => string): Fault => ({
      name,
      happen: () => this.#duringLogFault(this.#nodesOf('http'), () => this.#site.engines.log.command(line())),
    });
    const ms = (least: number, most: number) => Math.round(least + this.#random() * (most - least));
    return [
      command('leader killed', () => `kill-leader ${ms(300, 2000)} ${ms(100, 1500)}`),
      command('leader partitioned', () => `partition ${ms(200, 600)} ${ms(300, 2000)}`),
      command('leader paused', () => `pause ${ms(500, 4000)} ${ms(300, 1500)}`),
      command('quorum lost, appends kept', () => `lose-quorum ${ms(500, 3000)} keep`),
      command('quorum lost, appends truncated', () => `lose-quorum ${ms(500, 3000)} truncate`),
    ];
  }

  #connectionFaults(link: Link): Fault[] {
    return TCP_FAULTS.map((fault) => ({
      name: `${link} ${fault}`,
      happen: () => this.#injectFault(link, fault),
    }));
  }

  async #injectFault(link: Link, fault: TcpFault): Promise<void> {
    const role = link === 'clients' || this.#random() < 0.7 ? 'http' : 'reactors';
    const node = this.#nodeOf(role);
    const happen = async () => {
      await Promise.all(node.proxies[link].map((proxy) => proxy.inject(fault)));
      await pause(500 + this.#random() * 4000);
      await Promise.all(node.proxies[link].map((proxy) => proxy.inject('none')));
    };
    await (link === 'log' ? this.#duringLogFault([node], happen) : happen());
  }

  /** The fault lasts for the nodes until they reach the log again; without an end where one does not in time. */
  async #duringLogFault(nodes: readonly ProxiedNode[], happen: () => Promise<void>): Promise<void> {
    const logFault: LogFault = { nodes, from: performance.now() * 1000, until: Infinity };
    this.#logFaults.push(logFault);
    await happen();
    await pause(REMEMBERED_MS);
    const deadline = performance.now() + READY_MS;
    for (const { role, index } of nodes) {
      while (await isWithoutLog(this.#site.cluster.urlOf(role, index))) {
        if (performance.now() > deadline) return;
        await pause(100);
      }
    }
    logFault.until = performance.now() * 1000;
  }

  #nodeOf(wanted: NodeRole): ProxiedNode {
    const nodes = this.#nodesOf(wanted);
    return nodes[Math.floor(this.#random() * nodes.length)] as ProxiedNode; // there are two of each
  }

  #nodesOf(wanted: NodeRole): ProxiedNode[] {
    return this.#site.nodes.filter(({ role }) => hasRole(role, wanted));
  }
}

/** Whether the node may not reach the log; one that does not answer counts as such. */
async function isWithoutLog(url: string): Promise<boolean> {
  return /event log/.test(await notReadyBecause(url).catch(() => 'event log'));
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ item }) => item);
}
