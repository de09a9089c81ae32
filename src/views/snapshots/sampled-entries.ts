import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { mapConcurrent } from '../../tools/concurrency/limiter.ts';
import { random } from '../../tools/random.ts';
import { isBefore } from '../apply-events.ts';
import { foldStream } from '../fold.ts';
import type { AnyProjection } from '../projection.ts';
import type { ViewFile } from '../store/view-file.ts';
import type { ViewRow } from '../store/view-table.ts';

/** Number of entries that are drawn from all views together. */
const DRAWN = 200;
const MAX_CONCURRENT = 8;

type Entry = ViewRow & { readonly projection: AnyProjection };

/**
 * Draws entries at random, from each view about as many, and compares them with a fold of their streams. Resolves to
 * the first difference as a predicate, or to `undefined`.
 */
export async function sampledDifference(
  file: ViewFile,
  log: Pick<EventLog, 'readStream'>,
  projections: readonly AnyProjection[],
): Promise<string | undefined> {
  let difference: string | undefined;
  const last = file.lastSeen?.position;
  await mapConcurrent(drawn(file, projections), MAX_CONCURRENT, async ({ projection, key, view }) => {
    const events = log.readStream(`${projection.source.prefix}${key}`);
    const folded = await foldStream(projection, until(events, last));
    if (JSON.stringify(folded) !== view)
      difference ??= `shows ${key} of ${projection.name} not as its stream does`;
  });
  return difference;
}

function* drawn(file: ViewFile, projections: readonly AnyProjection[]): Generator<Entry> {
  const filled = projections.filter(({ name }) => file.table(name).lastRow > 0);
  for (let draw = 0; draw < DRAWN && filled.length > 0; draw += 1) {
    const projection = filled[draw % filled.length] as AnyProjection;
    const table = file.table(projection.name);
    const row = table.rowFrom(1 + Math.floor(random.fraction() * table.lastRow)) as ViewRow;
    yield { ...row, projection };
  }
}

async function* until(
  events: AsyncIterable<RecordedEvent>,
  last: string | undefined,
): AsyncGenerator<RecordedEvent> {
  for await (const event of events) {
    if (isBefore(last, event.position)) return;
    yield event;
  }
}
