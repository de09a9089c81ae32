import { toPosition } from '../../src/event-log/position.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ServerLog } from '../cluster/server-log.ts';
import { Site } from '../current-site.ts';
import { SimulatedDisk } from '../disk/disk.ts';
import { namesDisk } from '../disk/disk-folders.ts';
import type { NetworkServer } from '../network/network-server.ts';
import { S3Server } from '../network/s3-server.ts';
import { WebhookReceiver } from '../network/webhook-receiver.ts';
import { RECEIVER_HOST, STORE_HOST } from '../nodes/site-settings.ts';
import { NODES, type Plan } from '../plan/plan.ts';
import { Host, type Incarnation, running } from '../world/host.ts';
import { newProcess } from '../world/outside-world.ts';
import type { CallMoment, CallName, World } from '../world/world.ts';
import { STOP_LIMIT_MS } from './stop-limit.ts';

/** `down`: milliseconds until the process is started again; `seen`: until the servers notice its end. */
export type Killing = { readonly down: number; readonly seen: number };

export type CallToDieAfter = {
  readonly host: number;
  readonly call: CallName;
  readonly moment: CallMoment;
  /** Such calls that are passed over first. */
  readonly skip: number;
  /** Milliseconds in which the call has to come. */
  readonly until: number;
};

const WRITES: ReadonlySet<CallName> = new Set([
  'append',
  'put',
  'part',
  'complete',
  'log commit',
  'store commit',
]);

/** The machines and servers of a history, as faults and clients handle them. */
export class Scene {
  readonly world: World;
  readonly site: Site;
  readonly store = new S3Server();
  readonly receiver = new WebhookReceiver();
  readonly hosts: readonly Host[];
  readonly operator: Incarnation;
  /** Shares of requests and answers that are lost at the moment. */
  readonly losses = new Set<number>();
  /** Counts of calls after which a process was killed. */
  readonly crashPoints = new Map<string, number>();
  /** Starts the process of a host. */
  boot: (host: Host) => void = () => undefined;
  /** Stops the process of a host in order. */
  stop: (host: Host) => Promise<void> = () => Promise.resolve();
  collectGarbage: () => void = () => undefined;

  /** The disk of an embedded node. */
  readonly disk: SimulatedDisk | undefined;
  readonly #embeddedLog = new ServerLog(1, toPosition);

  constructor(world: World, { composition }: Pick<Plan, 'composition'>) {
    this.world = world;
    const servers = new Map<string, NetworkServer>([
      [STORE_HOST, this.store],
      [RECEIVER_HOST, this.receiver],
    ]);
    const lossOf = (process: Incarnation): number =>
      process === this.operator || this.losses.size === 0 ? 0 : Math.max(...this.losses);
    this.site = new Site(servers, lossOf);
    const roles = NODES[composition];
    this.hosts = roles.map((role, number) => new Host(`${role}-${number - roles.indexOf(role) + 1}`, role));
    this.disk = composition === 'embedded' ? new SimulatedDisk(world.seed, 'files') : undefined;
    const operator = new Host('operator', 'operator');
    for (const host of [...this.hosts, operator]) host.storage = this.disk;
    for (const host of this.hosts) host.storage ??= new SimulatedDisk(world.seed, 'memory');
    const { disks } = this;
    world.neutral = (text) =>
      namesDisk(text) ? disks.reduce((neutral, disk) => disk.withoutPlace(neutral), text) : text;
    this.operator = newProcess(operator);
  }

  /** The committed events: of the servers, or as the embedded node has committed them. */
  get log(): ServerLog {
    return this.disk ? this.#embeddedLog : this.cluster.log;
  }

  /** The disks of all nodes, to be disposed of. */
  get disks(): readonly SimulatedDisk[] {
    return [...new Set(this.hosts.flatMap(({ storage }) => storage ?? []))];
  }

  /** Number of nodes that serve HTTP. */
  get httpNodes(): number {
    return this.hosts.filter(({ role }) => role !== 'reactors').length;
  }

  /** Numbers of the nodes that run reactors. */
  get reactorHosts(): readonly number[] {
    return this.hosts.flatMap(({ role }, number) => (role === 'http' ? [] : [number]));
  }

  get cluster(): Cluster {
    return this.site.cluster;
  }

  host(index: number): Host {
    return this.hosts[index] as Host; // plans number them from 0
  }

  later(ms: number, work: () => void): void {
    this.world.schedule(ms, undefined, work);
  }

  /** Kills the process of a host, after a call. Returns false if none runs. */
  kill(
    index: number,
    { down, seen }: Killing,
    after: string | undefined = this.host(index).process?.lastCall,
  ): boolean {
    const host = this.host(index);
    const { process } = host;
    if (!process?.isAlive || after === undefined) return false;
    process.end();
    this.world.note('fault', `kill ${host.name} after ${after}`);
    this.crashPoints.set(after, (this.crashPoints.get(after) ?? 0) + 1);
    this.later(seen, () => this.cluster.closeConnectionsOf(process));
    this.later(down, () => this.boot(host));
    return true;
  }

  /** Kills the process of a host with its machine, whose disk loses what was not synced. */
  cutPower(index: number, killing: Killing, after?: string): boolean {
    const isKilled = this.kill(index, killing, after);
    if (isKilled) this.disk?.cutPower();
    return isKilled;
  }

  /** Kills the process of a host, or its machine, behind a call of it. */
  killAfter({ host, call, moment, skip, until }: CallToDieAfter, killing: Killing, isPowerCut = false): void {
    let left = skip;
    const disarm = this.world.onCall(({ host: caller }, madeCall, atMoment) => {
      if (caller !== this.host(host) || madeCall !== call || atMoment !== moment) return;
      left -= 1;
      if (left >= 0) return;
      disarm();
      this.world.afterStep(() => {
        if (isPowerCut) this.cutPower(host, killing, `${call} ${moment}`);
        else this.kill(host, killing, `${call} ${moment}`);
      });
    });
    this.later(until, disarm);
  }

  /** Stops the process of a host in order, and starts it again. Returns false if it does not serve. */
  restart(index: number, down: number): boolean {
    const host = this.host(index);
    const { process } = host;
    if (!process?.isReady || !process.isAlive) return false;
    process.isReady = false;
    this.world.note('fault', `stop ${host.name}`);
    const end = (): void => {
      if (!process.isAlive) return;
      process.end();
      this.world.note('node', `${host.name} has stopped`);
      this.cluster.closeConnectionsOf(process);
      this.later(down, () => this.boot(host));
    };
    void running.run(process, () => this.stop(host)).then(end, end);
    this.later(STOP_LIMIT_MS, end);
    return true;
  }

  /** Stops a node in order at its next write to the log or the store, most of which are those of a request. */
  restartAtWrite(index: number, down: number, until: number): true {
    const disarm = this.world.onCall(({ host }, call) => {
      if (host !== this.host(index) || !WRITES.has(call)) return;
      disarm();
      this.world.afterStep(() => void this.restart(index, down));
    });
    this.later(until, disarm);
    return true;
  }

  pause(index: number, time: number): boolean {
    const host = this.host(index);
    host.pause(this.world.now, this.world.now + time);
    return host.process?.isAlive ?? false;
  }

  moveClock(index: number, by: number): true {
    this.host(index).clockOffset += by;
    return true;
  }
}
