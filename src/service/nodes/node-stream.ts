import { appendAfter, untilAppended } from '../../event-log/append-after.ts';
import {
  type Appended,
  type EventLog,
  EventLogUnavailable,
  lastEvent,
  type NewEvent,
  type RecordedEvent,
} from '../../event-log/event-log.ts';
import { random } from '../../tools/random.ts';

/**
 * The stream in which nodes of a shared log register, and confirm to commands what their views have applied:
 * `NodeStarted {node}`, `NodeStopped {node}`, `NodeForgotten {node}` by an operator, `ConfirmationAsked {nodes}` by a
 * command, with the names of the registered nodes, and `NodeConfirmed {node, upTo}`: the views have applied the log up
 * to the event at revision `upTo` of this stream.
 */
export const NODES = 'nodes';

type NodeEvent =
  | {
      readonly type: 'NodeStarted' | 'NodeStopped' | 'NodeForgotten';
      readonly data: { readonly node: string };
    }
  | { readonly type: 'ConfirmationAsked'; readonly data: { readonly nodes: readonly string[] } }
  | { readonly type: 'NodeConfirmed'; readonly data: { readonly node: string; readonly upTo: number } };

/** Maximum number of appends that one event may lose to others: all nodes answer a question at the same time. */
const MAX_LOST = 100;

type NodeLog = Pick<EventLog, 'append' | 'readStream'>;

/** Appends an event after those in the stream. */
export async function appendNodeEvent(
  log: NodeLog,
  event: NodeEvent & Partial<Pick<NewEvent, 'id' | 'metadata'>>,
): Promise<Appended> {
  const named = { id: random.uuid(), ...event };
  let last = await lastEvent(log, NODES);
  return await untilInStream(log, async () => {
    for await (const later of log.readStream(NODES, { from: (last?.revision ?? -1) + 1 })) {
      if (later.id === named.id) return later; // it was accepted although it was rejected
      last = later;
    }
    return appendAfter(log, NODES, last, named);
  });
}

/**
 * Asks all registered nodes to confirm that their views have applied the log up to here. Resolves to the nodes and the
 * question; to `undefined` if no node is registered.
 */
export async function askNodes(
  log: NodeLog,
): Promise<(Appended & { readonly nodes: readonly string[] }) | undefined> {
  return await untilInStream(log, async () => {
    const { nodes, last } = await registeredNodes(log);
    if (nodes.length === 0) return undefined;
    // At the revision that was read: so no node registers in between.
    return {
      nodes,
      ...(await appendAfter(log, NODES, last, { type: 'ConfirmationAsked', data: { nodes } })),
    };
  });
}

/** Resolves to the names of the registered nodes, and the last event of the stream. Reads back to the last question. */
export async function registeredNodes(log: Pick<EventLog, 'readStream'>): Promise<{
  readonly nodes: readonly string[];
  readonly last: RecordedEvent | undefined;
}> {
  const newestFirst: RecordedEvent[] = [];
  for await (const event of log.readStream(NODES, { backwards: true })) {
    newestFirst.push(event);
    if (event.type === 'ConfirmationAsked') break; // it names all nodes that were registered before
  }
  const nodes = new Set<string>();
  for (const event of newestFirst.toReversed()) {
    if (event.type === 'ConfirmationAsked')
      for (const node of event.data['nodes'] as readonly string[]) nodes.add(node); // as askNodes appended it
    else if (event.type === 'NodeStarted' || event.type === 'NodeConfirmed') nodes.add(nodeOf(event));
    else nodes.delete(nodeOf(event));
  }
  return { nodes: [...nodes], last: newestFirst[0] };
}

/** Returns the node that an event is about, if it is no question. */
export function nodeOf({ data }: RecordedEvent): string {
  return data['node'] as string; // as it was appended
}

/**
 * Whether the event answers the question at this revision: the node has applied the log up to there, or it no longer
 * runs. A node that has started since serves clients only once its views have caught up.
 */
export function answers({ type, data }: RecordedEvent, revision: number): boolean {
  return type === 'NodeConfirmed' ? Number(data['upTo']) >= revision : type !== 'ConfirmationAsked';
}

function untilInStream<Result>(log: NodeLog, attempt: () => Promise<Result>): Promise<Result> {
  const text = `${MAX_LOST} appends to ${NODES} conflicted with other nodes: try again.`;
  return untilAppended(log, NODES, attempt, {
    maxLost: MAX_LOST,
    overtaken: () => new EventLogUnavailable(text),
  });
}
