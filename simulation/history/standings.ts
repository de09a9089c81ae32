import { deposits } from '../../src/domain/aggregates.ts';
import type { Group } from '../cluster/group.ts';
import { nameOf, type StoredEvent } from '../cluster/stored-event.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import { running } from '../world/host.ts';
import type { Scene } from './scene.ts';

/** A node reported how far the reactors are. */
export type Standing = {
  readonly at: number;
  /** Milliseconds until it answered. */
  readonly took: number;
  readonly node: string;
  /** How many events it reported as waiting; `undefined`: it could not count them in time. */
  readonly waiting: number | undefined;
  /** Events that were not acknowledged, neither when it was asked nor when it answered. */
  readonly unacknowledged: readonly string[];
};

const ASK_EVERY_MS = 4000;

/** Asks nodes with reactors, from time to time, how far they are. */
export class Standings {
  readonly all: Standing[] = [];
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Asks a node until it dies. */
  follow(node: SimulatedNode): void {
    this.#scene.later(ASK_EVERY_MS, () => {
      if (!node.process.isAlive) return;
      void this.#ask(node).finally(() => this.follow(node));
    });
  }

  async #ask(node: SimulatedNode): Promise<void> {
    const [group] = this.#scene.cluster.groups.all.values();
    if (!node.deliveries || !group) return;
    const before = this.#unacknowledged(group);
    const begunAt = this.#scene.world.now;
    const { deliveries, process } = node;
    const answer = running.run(process, () => deliveries.status('checker', deposits.prefix));
    const standing = await answer.catch(() => undefined);
    if (!standing) return; // the log was away
    const still = this.#unacknowledged(group).filter((event) => before.includes(event));
    const unacknowledged = still.map(nameOf);
    const { now } = this.#scene.world;
    const { waiting } = standing;
    this.all.push({ at: now, took: now - begunAt, node: process.name, waiting, unacknowledged });
  }

  #unacknowledged({ acknowledged }: Group): StoredEvent[] {
    const { events } = this.#scene.cluster.log;
    return events.filter(({ id, streamId }) => streamId.startsWith(deposits.prefix) && !acknowledged.has(id));
  }
}
