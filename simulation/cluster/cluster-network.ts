import type { Incarnation } from '../world/host.ts';
import { type CallName, world } from '../world/world.ts';
import { unavailable } from './client-fault.ts';
import type { Connection, Leadership, Side } from './leadership.ts';

type Call = { readonly connection: Connection; isOver: boolean; fail(delay?: number): void };

/** Does what a call asks for: exactly one of the functions must be called, now or later. */
export type ServerWork<Answer> = (
  side: Side,
  answer: (value: Answer) => void,
  refuse: (error: Error) => void,
) => void;

export type CallLabel = { readonly text: string; readonly call?: CallName };

/** How much a call is delayed in noise, at most, in milliseconds. */
const LONGEST_DELAY_MS = 13_000;

/** Connections between processes and the cluster: latency, loss, and what breaks when a leader or a process dies. */
export class ClusterNetwork {
  readonly #leadership: Leadership;
  readonly #lossOf: (process: Incarnation) => number;
  readonly #calls = new Set<Call>();

  /** @param lossOf the share of requests and answers of a process that are lost at the moment */
  constructor(leadership: Leadership, lossOf: (process: Incarnation) => number) {
    this.#leadership = leadership;
    this.#lossOf = lossOf;
  }

  latency(): number {
    const { networkRandom } = world();
    return 0.15 + networkRandom.next() * 1.2 + (networkRandom.chance(0.03) ? networkRandom.next() * 40 : 0);
  }

  /** Resolves to what the server answers; rejects with its refusal, or if the connection breaks. */
  request<Answer>(
    connection: Connection,
    { text, call }: CallLabel,
    work: ServerWork<Answer>,
  ): Promise<Answer> {
    const { process } = connection;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const pending: Call = {
      connection,
      isOver: false,
      fail: (delay) => this.#settle(pending, () => reject(unavailable()), delay),
    };
    this.#calls.add(pending);
    if (connection.isDisposed) {
      pending.fail();
      return promise;
    }
    connection.epoch ??= this.#leadership.epoch;
    if (call) world().called(process, call, 'sent');
    const loss = this.#lossOf(process);
    const { networkRandom } = world();
    if (loss > 0 && networkRandom.chance(loss)) {
      pending.fail(networkRandom.between(1, 400)); // the request is lost
      return promise;
    }
    const isSlow = loss > 0 && networkRandom.chance(loss / 3);
    const delay = isSlow ? networkRandom.between(500, LONGEST_DELAY_MS) : 0;
    world().schedule(this.latency() + delay, undefined, () => {
      if (pending.isOver || process.isGone) return;
      const side = this.#leadership.sideOf(connection);
      if (!side) {
        connection.epoch = undefined;
        pending.fail();
        return;
      }
      world().note('call', `${process.name} ${text}${side.old ? ' (old leader)' : ''}`);
      const answer = (value: Answer): void => {
        if (call) world().called(process, call, 'done');
        if (loss > 0 && networkRandom.chance(loss))
          pending.fail(); // the answer is lost
        else this.#settle(pending, () => resolve(value), undefined, call);
      };
      work(side, answer, (error) => this.#settle(pending, () => reject(error)));
    });
    return promise;
  }

  /** Breaks the calls of some connections: their outcome is unknown. */
  break(isBroken: (connection: Connection) => boolean): void {
    const { networkRandom } = world();
    for (const call of this.#calls) if (isBroken(call.connection)) call.fail(networkRandom.between(0.1, 3));
  }

  #settle(call: Call, settle: () => void, delay = this.latency(), name?: CallName): void {
    const { process } = call.connection;
    world().schedule(delay, process, () => {
      if (call.isOver) return;
      call.isOver = true;
      this.#calls.delete(call);
      if (name) world().called(process, name, 'answered');
      settle();
    });
  }
}
