import type { StreamEvent } from './history.ts';

type Page = { readonly events: readonly StreamEvent[]; readonly next: number | null };

/**
 * Resolves to all events of a stream, from its pages.
 * @param read reads the JSON at a path of the console
 */
export async function loadStream(
  stream: string,
  read: (path: string) => Promise<unknown>,
): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const path = `/console/api/streams/${encodeURIComponent(stream)}/events?from=${from}`;
    const page = (await read(path)) as Page; // the server is of the same release
    events.push(...page.events);
    from = page.next;
  }
  return events;
}
