import { Cluster } from './cluster/cluster.ts';
import type { NetworkServer } from './network/network-server.ts';
import type { Incarnation } from './world/host.ts';
import { world } from './world/world.ts';

/** The servers that all simulated machines share. */
export class Site {
  readonly cluster: Cluster;
  /** HTTP servers by host name. */
  readonly servers: ReadonlyMap<string, NetworkServer>;
  #numbers = 0;

  readonly #lossOf: (process: Incarnation) => number;

  /** @param lossOf the share of requests and answers of a process that are lost at the moment */
  constructor(servers: ReadonlyMap<string, NetworkServer>, lossOf: (process: Incarnation) => number) {
    this.cluster = new Cluster(lossOf);
    this.servers = servers;
    this.#lossOf = lossOf;
  }

  /** Returns whether a request or an answer of the process is lost. */
  isLost(process: Incarnation): boolean {
    const loss = this.#lossOf(process);
    return loss > 0 && world().networkRandom.chance(loss);
  }

  /** Returns a number that no earlier call in this history returned. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }
}

let current: Site | undefined;

/** @throws {Error} no history runs. */
export function currentSite(): Site {
  if (!current) throw new Error('No history runs in this process.');
  return current;
}

export function setSite(site: Site | undefined): void {
  current = site;
}
