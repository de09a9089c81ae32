import { setImmediate } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { ConsumerGroups } from '../groups/consumer-groups.ts';
import type { GroupLog, GroupOptions } from '../groups/group-log.ts';
import type { Expected } from '../storage/append-check.ts';
import { LogView } from '../storage/log-view.ts';
import type { ProposedEvent } from '../storage/stored-events.ts';
import { type AppendOutcome, type StoredLog, systemEvent } from '../storage/stored-log.ts';
import { compressAnswers } from './compressed-answers.ts';
import { PauseGate } from './pause-gate.ts';
import { UnreplicatedAppends } from './unreplicated-appends.ts';

/** `unknown`: the node has no leader, or does not run. */
export type Role = 'leader' | 'follower' | 'unknown';

export type NodeOptions = {
  readonly groups: GroupOptions;
  /** The name by which clients reach it; a name with TLS, whose client library accepts no address. */
  readonly host: string;
  readonly credentials: ServerCredentials;
  /** Adds the services to a new server of the node. */
  readonly serve: (server: Server, node: ClusterNode) => void;
  readonly compresses: boolean;
};

/** The largest message that the channel of a real server lets through. */
const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.max_send_message_length': -1,
};

/** One server of a cluster: its gRPC port, what it reads, and, while it leads, its groups. */
export class ClusterNode {
  readonly view: LogView;
  readonly gate = new PauseGate();
  role: Role = 'unknown';
  /** Whether it answers gossip. One that does not accepts connections all the same. */
  answersGossip = true;
  readonly #log: StoredLog;
  readonly #options: NodeOptions;
  readonly #listeners = new Set<() => void>();
  #port: number;
  #server: Server | undefined;
  #groups: ConsumerGroups | undefined;
  #tail: UnreplicatedAppends | undefined;
  #isCutOff = false;
  #endCompression = () => {};

  constructor(log: StoredLog, port: number, options: NodeOptions) {
    this.#log = log;
    this.#port = port;
    this.#options = options;
    this.view = new LogView(log);
    log.onAppended(() => this.#visible());
  }

  get host(): string {
    return this.#options.host;
  }

  get port(): number {
    return this.#port;
  }

  get isListening(): boolean {
    return this.#server !== undefined;
  }

  /** No other node reaches it. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  get canVote(): boolean {
    return this.isListening && !this.#isCutOff && !this.gate.isClosed;
  }

  /** The groups of its last term, which may be over. */
  get groups(): ConsumerGroups | undefined {
    return this.#groups;
  }

  /** Calls back when there may be more to read, until the returned function is called. */
  onVisible(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens its port, the same one as before. */
  async listen(): Promise<void> {
    if (this.#server) return;
    await setImmediate(); // a port that was closed is free in the next turn
    const server = new Server(CHANNEL_OPTIONS);
    this.#options.serve(server, this);
    this.#port = await bound(server, this.#port, this.#options.credentials);
    if (this.#options.compresses) this.#endCompression = compressAnswers(this.#port);
    this.#server = server;
  }

  /** Ends like a process that is killed: connections are cut, and what only this node had is gone. */
  close(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    this.#endCompression();
    this.gate.discard();
    this.#groups?.stop();
    this.#tail?.truncate();
    this.#tail = undefined;
    this.#isCutOff = false;
    this.view.thaw();
    this.role = 'unknown';
  }

  /** Leads from now on: every group is loaded from its checkpoint. */
  lead(): void {
    this.role = 'leader';
    const log: GroupLog = { view: this.view, write: (...event) => this.#write(...event) };
    this.#groups?.stop();
    this.#groups = new ConsumerGroups(log, this.#options.groups);
  }

  /** Has no leader, and leads no longer. */
  resign(): void {
    this.role = 'unknown';
    this.#groups?.stop();
  }

  /** The outcome may come late, or never, while the node does not reach the others. */
  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Promise<AppendOutcome> {
    if (this.#tail) return this.#tail.append(stream, expected, events);
    return Promise.resolve(this.#log.append(stream, expected, events));
  }

  /** Hides the events of the stream. */
  async delete(stream: string): Promise<AppendOutcome> {
    const event = systemEvent('$metadata', this.view.metadata.deleting(stream));
    return this.append(`$$${stream}`, 'any', [event]);
  }

  /** Reaches no other node: nothing that it is sent is committed. `isolated`: it also hears of nothing new. */
  loseOthers({
    isolated,
    forgets = false,
  }: {
    readonly isolated: boolean;
    readonly forgets?: boolean;
  }): void {
    this.#tail ??= new UnreplicatedAppends(this.view);
    if (forgets) this.#tail.forgetIds();
    this.#isCutOff = isolated;
    if (isolated) this.view.freeze();
  }

  /** Reaches the others again. Resolves when it serves clients, which takes a restart if it has to truncate. */
  async rejoin(fate: 'keep' | 'truncate'): Promise<void> {
    const tail = this.#tail;
    this.#tail = undefined;
    this.#isCutOff = false;
    this.view.thaw();
    if (fate === 'keep') tail?.commit(this.#log);
    else if (tail && tail.count > 0) {
      tail.truncate();
      this.close();
      await this.listen();
    }
    this.#visible();
  }

  pause(): void {
    this.gate.pause();
    this.#groups?.pause();
  }

  resume(): void {
    this.gate.resume();
    if (this.role === 'leader') this.#groups?.resume();
    this.#visible();
  }

  async #write(stream: string, type: string, json: string): Promise<void> {
    await this.append(stream, 'any', [systemEvent(type, json)]);
  }

  #visible(): void {
    if (this.#isCutOff || this.gate.isClosed) return;
    if (this.role === 'leader') this.#groups?.notify();
    for (const listener of this.#listeners) listener();
  }
}

function bound(server: Server, port: number, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, actual) =>
      error ? reject(error) : resolve(actual),
    );
  });
}
