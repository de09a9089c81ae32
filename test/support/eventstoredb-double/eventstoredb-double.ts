import { setImmediate } from 'node:timers/promises';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import persistentServices from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ConsumerGroups } from './consumer-groups.ts';
import { FaultSwitches } from './fault-switches.ts';
import { type DroppedHow, OpenSubscriptions } from './open-subscriptions.ts';
import { persistentService } from './persistent-service.ts';
import { featuresService, gossipService } from './server-facts.ts';
import { StoredLog } from './stored-log.ts';
import { streamsService } from './streams-service.ts';

export type DoubleOptions = {
  /** 0: any free one. */
  readonly port?: number;
  /** Servers before 23.10 send no `caughtUp`. */
  readonly sendsCaughtUp?: boolean;
};

/**
 * A server that speaks the protocol of EventStoreDB over real gRPC, with its state in memory, and with the faults
 * that a real one has no switch for. It is as strict as the real one where that was known; what was assumed is
 * said in the test that relies on it.
 */
export class EventStoreDbDouble implements AsyncDisposable {
  readonly log = new StoredLog();
  readonly groups = new ConsumerGroups(this.log);
  readonly faults = new FaultSwitches();
  readonly sendsCaughtUp: boolean;
  readonly #subscriptions = new OpenSubscriptions();
  #server: Server | undefined;
  #port: number;

  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options);
    await double.listen();
    return double;
  }

  private constructor({ port = 0, sendsCaughtUp = true }: DoubleOptions) {
    this.#port = port;
    this.sendsCaughtUp = sendsCaughtUp;
  }

  get port(): number {
    return this.#port;
  }

  get connectionString(): string {
    return `esdb://127.0.0.1:${this.#port}?tls=false`;
  }

  /** Subscriptions of both kinds that are open now. */
  get openSubscriptions(): number {
    return this.#subscriptions.count;
  }

  /** Cuts every subscription off, of both kinds. */
  dropSubscriptions(how: DroppedHow = 'error'): void {
    this.#subscriptions.drop(how);
  }

  /** Cuts every connection and refuses new ones, until it listens again; what was stored stays. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    this.groups.disconnectAll();
  }

  /** On the same port as before. */
  async listen(): Promise<void> {
    const server = new Server();
    const { faults, log, groups } = this;
    const subscriptions = this.#subscriptions;
    const here = () => this.#port;
    const { sendsCaughtUp } = this;
    const services = [
      [
        streamServices.StreamsService,
        streamsService({ log, faults, subscriptions, sendsCaughtUp, port: here }),
      ],
      [
        persistentServices.PersistentSubscriptionsService,
        persistentService({ groups, faults, subscriptions, port: here }),
      ],
      [featureServices.ServerFeaturesService, featuresService(faults)],
      [gossipServices.GossipService, gossipService(here)],
    ] as const;
    for (const [definition, implementation] of services) {
      server.addService(definition, implementation satisfies UntypedServiceImplementation);
    }
    this.#port = await bound(server, this.#port);
    this.#server = server;
  }

  async restart(): Promise<void> {
    this.stop();
    await setImmediate(); // the port is free in the next turn
    await this.listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await setImmediate(); // sockets close in the next turn
  }
}

function bound(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, actual) =>
      error ? reject(error) : resolve(actual),
    );
  });
}
