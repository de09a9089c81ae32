import path from 'node:path';
import { startBenched } from '../servers/benched-service.ts';
import type { ServerProcess } from '../servers/server-process.ts';
import type { NodeSite } from './node-site.ts';

type Role = 'http' | 'reactors';

/** The nodes that work on a site. Each has a data folder of its own, which it finds again when it is started again. */
export class NodeGroup implements AsyncDisposable {
  readonly #site: NodeSite;
  readonly #folder: string;
  readonly #running: Record<Role, ServerProcess[]> = { http: [], reactors: [] };

  constructor(site: NodeSite, folder: string) {
    this.#site = site;
    this.#folder = folder;
  }

  /** Starts or ends nodes, so that this many run. Resolves to the addresses of those that serve clients. */
  async have(wanted: Readonly<Record<Role, number>>): Promise<readonly string[]> {
    for (const role of ['http', 'reactors'] as const) {
      const running = this.#running[role];
      while (running.length > wanted[role]) await running.pop()?.[Symbol.asyncDispose]();
      while (running.length < wanted[role]) running.push(await this.start(role, running.length + 1));
    }
    return this.#running.http.map(({ url }) => url);
  }

  /** Starts a node that does not count as one of the group. Resolves when it is ready. */
  start(role: Role, number: number): Promise<ServerProcess> {
    const env = { ...this.#site.settings, DEPOSIT_ROLES: role, DEPOSIT_VIEW_SNAPSHOT_SIZE: '0' };
    return startBenched(this.folderOf(role, number), { env });
  }

  folderOf(role: Role, number: number): string {
    return path.join(this.#folder, `${role}-${number}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.have({ http: 0, reactors: 0 });
  }
}
