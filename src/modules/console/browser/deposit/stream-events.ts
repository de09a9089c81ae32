import { getJson } from '../api.ts';
import type { StreamEvent } from './history.ts';

type Page = { readonly events: readonly StreamEvent[]; readonly next: number | null };

/** Resolves to all events of a stream, from its pages. @throws {ApiError} */
export async function loadStream(stream: string, signal: AbortSignal): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const path = `/console/api/streams/${encodeURIComponent(stream)}/events?from=${from}`;
    const page: Page = await getJson<Page>(path, { signal });
    events.push(...page.events);
    from = page.next;
  }
  return events;
}
