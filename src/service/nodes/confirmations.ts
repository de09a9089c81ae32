import type { Appended, EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { answers, askNodes, NODES, nodeOf, registeredNodes } from './node-stream.ts';

/** How long a command waits until views have applied what it appended. */
export const CONFIRM_TIMEOUT_MS = 5000;

/** Whether each registered node of a shared log has confirmed, by its name. */
type Confirmations = ReadonlyMap<string, boolean>;

type SharedLog = Pick<EventLog, 'append' | 'readStream' | 'subscribe'>;

/**
 * Asks all registered nodes of a shared log whether their views have applied the log up to here. Resolves when all have
 * confirmed it, after {@link CONFIRM_TIMEOUT_MS} at the latest.
 */
export async function confirmations(log: SharedLog, timeoutMs = CONFIRM_TIMEOUT_MS): Promise<Confirmations> {
  const asked = await askNodes(log);
  const confirmed = new Map(asked?.nodes.map((node) => [node, false]));
  if (!asked) return confirmed;
  for await (const answer of answersTo(asked, log, timeoutMs)) {
    if (confirmed.has(nodeOf(answer))) confirmed.set(nodeOf(answer), true);
    if ([...confirmed.values()].every(Boolean)) break;
  }
  return confirmed;
}

/** Asks the nodes if one of this name is registered. Resolves to whether it confirms within the time limit. */
export async function confirms(log: SharedLog, node: string, timeoutMs: number): Promise<boolean> {
  if (!(await registeredNodes(log)).nodes.includes(node)) return false;
  const asked = await askNodes(log);
  if (!asked) return false;
  for await (const answer of answersTo(asked, log, timeoutMs))
    if (nodeOf(answer) === node) return answer.type === 'NodeConfirmed';
  return false;
}

async function* answersTo(
  asked: Appended,
  log: Pick<EventLog, 'subscribe'>,
  timeoutMs: number,
): AsyncGenerator<RecordedEvent> {
  const signal = clock.timeoutSignal(timeoutMs);
  for await (const message of log.subscribe({ after: asked.position, streamPrefixes: [NODES], signal }))
    if (message.kind === 'events') yield* message.events.filter((event) => answers(event, asked.revision));
}
