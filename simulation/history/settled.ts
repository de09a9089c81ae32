import { isStatusChange } from '../../src/deposits/status-change.ts';
import type { StoredEvent } from '../cluster/stored-event.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import { CLIENTS } from '../plan/plan.ts';
import { numberOf } from './log-number.ts';
import { stillParked } from './parked.ts';
import type { Scene } from './scene.ts';

const BEGINS = new Set([
  'DepositCompleted',
  'ChecksRetried',
  'LoadingRetried',
  'DepositVerified',
  'LoadingStarted',
]);
const ENDS = new Set([
  'DepositLoaded',
  'DepositRejected',
  'LoadingFailed',
  'DepositDeleted',
  'MetadataDeposited',
]);

/** Returns whether everything that was begun has ended, on all nodes. */
export function isSettled(scene: Scene, nodes: ReadonlyMap<string, SimulatedNode>): boolean {
  const { log } = scene;
  const isOver = (events: readonly StoredEvent[]): boolean => hasEnded(events) && isNotified(events, scene);
  for (const [stream, events] of log.streams)
    if (stream.startsWith('deposit-') && !isOver(events)) return false;
  if (!stillParked(log).next().done || scene.store.uploads.ofLiving.length > 0) return false;
  const last = scene.log.events.findLast(({ streamId }) => /^(deposit|client|notifications)-/.test(streamId));
  return scene.hosts.every((host) => {
    const node = nodes.get(host.name);
    const isServing = node !== undefined && node.process === host.process && node.process.isAlive;
    if (!isServing || host.pausedUntil >= scene.world.now) return false;
    return numberOf(node.projector.position) >= (last?.number ?? 0);
  });
}

function hasEnded(events: readonly StoredEvent[]): boolean {
  const last = events.findLast(({ type }) => BEGINS.has(type) || ENDS.has(type));
  return last === undefined || ENDS.has(last.type);
}

function isNotified(events: readonly StoredEvent[], { receiver }: Scene): boolean {
  if (events[0]?.data['client'] === CLIENTS.at(-1)) return true;
  const news = events.filter(isStatusChange);
  return news.every(({ data, revision }) =>
    receiver.received.some((one) => one.depositId === data['depositId'] && one.revision === Number(revision)),
  );
}
