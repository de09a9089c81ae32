import type { EventLog } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { answers, askNodes, NODES, nodeOf } from './node-stream.ts';

/** How long a command waits until views have applied what it appended. */
export const CONFIRM_TIMEOUT_MS = 5000;

/** Whether each registered node of a shared log has confirmed, by its name. */
type Confirmations = ReadonlyMap<string, boolean>;

/**
 * Asks all registered nodes of a shared log whether their views have applied the log up to here. Resolves when all have
 * confirmed it, after {@link CONFIRM_TIMEOUT_MS} at the latest.
 */
export async function confirmations(
  log: Pick<EventLog, 'append' | 'readStream' | 'subscribe'>,
  timeoutMs = CONFIRM_TIMEOUT_MS,
): Promise<Confirmations> {
  const asked = await askNodes(log);
  const confirmed = new Map(asked?.nodes.map((node) => [node, false]));
  if (!asked) return confirmed;
  const signal = clock.timeoutSignal(timeoutMs);
  for await (const message of log.subscribe({ after: asked.position, streamPrefixes: [NODES], signal })) {
    if (message.kind !== 'events') continue;
    for (const event of message.events)
      if (confirmed.has(nodeOf(event)) && answers(event, asked.revision)) confirmed.set(nodeOf(event), true);
    if ([...confirmed.values()].every(Boolean)) break;
  }
  return confirmed;
}
