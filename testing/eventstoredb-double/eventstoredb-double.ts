import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import operationsServices from '@eventstore/db-client/generated/operations_grpc_pb.js';
import persistentServices from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import userServices from '@eventstore/db-client/generated/users_grpc_pb.js';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { freePort } from '../processes/free-port.ts';
import { Cluster } from './cluster/cluster.ts';
import { ClusterFaults } from './cluster/cluster-faults.ts';
import type { ClusterNode } from './cluster/cluster-node.ts';
import type { DoubleOptions } from './double-options.ts';
import type { ConsumerGroups } from './groups/consumer-groups.ts';
import { countsSkipped } from './groups/pinned-strategy.ts';
import { AccessControl } from './services/access-control.ts';
import { FaultSwitches } from './services/fault-switches.ts';
import { featuresService } from './services/features-service.ts';
import { gossipService } from './services/gossip-service.ts';
import { type DroppedHow, OpenSubscriptions } from './services/open-subscriptions.ts';
import { operationsService } from './services/operations-service.ts';
import { persistentService } from './services/persistent-service.ts';
import type { ServiceContext } from './services/service-context.ts';
import { streamsService } from './services/streams-service.ts';
import { usersService } from './services/users-service.ts';
import { loadDump } from './storage/log-dump.ts';
import { SqliteStorage } from './storage/sqlite-storage.ts';
import { StoredLog } from './storage/stored-log.ts';

export type { DoubleOptions } from './double-options.ts';

const VERSION = '24.10.14';

/**
 * A server, or a cluster of them, that speaks the protocol of EventStoreDB over real gRPC and follows the rules of
 * real servers that docs/eventstoredb-rules.md lists, with faults that a real one has no switch for.
 */
export class EventStoreDbDouble implements AsyncDisposable {
  readonly log: StoredLog;
  readonly faults = new FaultSwitches();
  readonly cluster: Cluster;
  readonly clusterFaults: ClusterFaults;
  readonly #options: DoubleOptions;
  readonly #access: AccessControl;
  readonly #subscriptions = new OpenSubscriptions();

  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options, await portsOf(options));
    if (options.load !== undefined && double.log.storage.end === 0n) await loadDump(double.log, options.load);
    await double.listen();
    return double;
  }

  private constructor(options: DoubleOptions, ports: readonly number[]) {
    const { times = {}, version = VERSION, file, tls, users } = options;
    this.#options = options;
    this.log = new StoredLog(new SqliteStorage(file));
    this.#access = new AccessControl(users, this.log.metadata);
    this.cluster = new Cluster(this.log, {
      ports,
      times,
      node: {
        groups: { ...options, countsSkipped: countsSkipped(version) },
        host: tls ? 'localhost' : '127.0.0.1',
        credentials: credentialsOf(tls),
        serve: (server, node) => this.#serve(server, node),
        compresses: options.compresses ?? true,
      },
    });
    this.clusterFaults = new ClusterFaults(this.cluster);
  }

  /** The port of the first node. */
  get port(): number {
    return (this.cluster.nodes[0] as ClusterNode).port;
  }

  get ports(): readonly number[] {
    return this.cluster.nodes.map(({ port }) => port);
  }

  /** Names every node. */
  get connectionString(): string {
    const { tls } = this.#options;
    const hosts = this.cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
    return `esdb://${hosts}?${tls ? `tls=true&tlsCAFile=${tls.cert}` : 'tls=false'}`;
  }

  /** The groups of the node that leads, or led last. */
  get groups(): ConsumerGroups {
    return this.cluster.groups;
  }

  /** The number of subscriptions of both kinds that are open now. */
  get openSubscriptions(): number {
    return this.#subscriptions.count;
  }

  /** Cuts every subscription off, of both kinds. */
  dropSubscriptions(how: DroppedHow = 'error'): void {
    this.#subscriptions.drop(how);
  }

  /** Cuts every connection and refuses new ones until it listens again; what was stored stays. */
  stop(): void {
    this.cluster.close();
  }

  /** Listens on the same ports as before. Groups are loaded from their checkpoints. */
  async listen(): Promise<void> {
    await this.cluster.listen();
  }

  async restart(): Promise<void> {
    this.stop();
    await this.listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await setImmediate(); // sockets close in the next turn
    if (this.#options.file !== undefined) this.log.storage[Symbol.dispose]();
  }

  #serve(server: Server, node: ClusterNode): void {
    const context: ServiceContext = {
      node,
      cluster: this.cluster,
      faults: this.faults,
      subscriptions: this.#subscriptions,
      access: this.#access,
      sendsCaughtUp: this.#options.sendsCaughtUp ?? true,
      version: this.#options.version ?? VERSION,
    };
    server.addService(streamServices.StreamsService, streamsService(context));
    server.addService(persistentServices.PersistentSubscriptionsService, persistentService(context));
    server.addService(featureServices.ServerFeaturesService, featuresService(context));
    server.addService(gossipServices.GossipService, gossipService(context));
    server.addService(operationsServices.OperationsService, operationsService(context, this.log));
    server.addService(userServices.UsersService, usersService(context));
  }
}

function credentialsOf(tls: DoubleOptions['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = { cert_chain: readFileSync(tls.cert), private_key: readFileSync(tls.key) };
  return ServerCredentials.createSsl(null, [pair]);
}

/** Resolves to the ports of the nodes, which stay the same when they listen again. */
async function portsOf({ ports, port = 0, nodes = 1 }: DoubleOptions): Promise<readonly number[]> {
  const given = ports ?? [port, ...Array<number>(nodes - 1).fill(0)];
  return await Promise.all(given.map(async (one) => (one === 0 ? await freePort() : one)));
}
