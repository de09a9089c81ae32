import { isDeepStrictEqual } from 'node:util';
import { everyView } from '../../projections/every-view.ts';
import { apply, completed } from '../../src/views/fold.ts';
import { type AnyProjection, keyOf } from '../../src/views/projection.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { recorded } from '../history/recorded.ts';

/** Every view of every node is what the log makes of it. */
export function* viewsOfLog(history: EndedHistory): Generator<string> {
  for (const projection of everyView) {
    let expected: Map<string, unknown> | undefined;
    for (const { process, shown: shownBy } of history.nodes) {
      const shown = shownBy(projection.name);
      if (!shown) continue;
      expected ??= folded(projection, history);
      const differing = [...new Set([...expected.keys(), ...shown.keys()])].filter(
        (key) => !isDeepStrictEqual(expected?.get(key), shown.get(key)),
      );
      if (differing.length > 0)
        yield `${process.name} shows ${projection.name} of ${differing.join(', ')} otherwise`;
    }
  }
}

function folded(projection: AnyProjection, { log }: EndedHistory): Map<string, unknown> {
  const views = new Map<string, unknown>();
  for (const event of log.events) {
    if (!event.streamId.startsWith(projection.source.prefix)) continue;
    const key = keyOf(projection.source, event.streamId);
    const view = completed(projection, apply(projection, views.get(key), recorded(event)));
    if (view === undefined) views.delete(key);
    else views.set(key, view);
  }
  return views;
}
