import { mkdtempDisposableSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { everyView } from '../../projections/every-view.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { Rebuild } from '../../src/views/rebuild.ts';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';

/** Deposits of seven events each: enough that V8's compilation is a small part of the time. */
const DEPOSITS = 50_000;
const PAGE = 1000;

export const rebuildViews: Goal = {
  id: 'G12',
  what: `rebuild of all ${everyView.length} views`,
  async measure(bench) {
    const dataDir = await bench.inputs.manyDeposits(DEPOSITS);
    const file = path.join(dataDir, 'event-log.sqlite');
    await using log = await SqliteEventLog.open({ file, readOnly: true });
    const found = await interleave(bench, 'G12', {
      rebuild: () => inNewFolder(bench.folder, (folder) => eventsPerSecond(() => rebuild(log, folder))),
      parse: async () => eventsPerSecond(() => replay(file)),
    });
    const ours = { name: 'views in SQLite', values: found.rebuild };
    return [
      { what: 'by itself', unit: 'events/s', ours, wanted: atLeast(100_000) },
      {
        what: 'beside a replay',
        unit: 'events/s',
        ours,
        reference: { name: 'raw rows and JSON.parse', values: found.parse },
        wanted: atLeast(0.3),
      },
    ];
  },
};

async function eventsPerSecond(work: () => Promise<number>): Promise<number> {
  const started = performance.now();
  const events = await work();
  return (events / (performance.now() - started)) * 1000;
}

export async function inNewFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  using temporary = mkdtempDisposableSync(path.join(parent, 'views-'));
  return await work(temporary.path);
}

/** Rebuilds from an empty folder until all is committed and closed. Resolves to the number of events. */
export async function rebuild(log: SqliteEventLog, folder: string): Promise<number> {
  using views = new Rebuild({ log, folder, origin: 'sqlite', projections: everyView, progress: () => {} });
  await views.build();
  return views.events;
}

/** Reads and parses every row of the log: the lower bound of any replay. Resolves to the number of events. */
async function replay(file: string): Promise<number> {
  using db = new DatabaseSync(file, { readOnly: true });
  const page = db.prepare(
    `SELECT e.position, s.name, e.revision, e.id, e.type, e.data, e.metadata
     FROM events e JOIN streams s ON s.id = e.stream WHERE e.position > ? ORDER BY e.position LIMIT ${PAGE}`,
  );
  page.setReturnArrays(true);
  let [events, last, keys] = [0, 0, 0];
  for (;;) {
    const rows = page.all(last) as unknown as [number, string, number, Uint8Array, string, string, string][]; // as selected
    for (const [, , , , , data, metadata] of rows)
      keys += Object.keys(JSON.parse(data)).length + Object.keys(JSON.parse(metadata)).length;
    events += rows.length;
    last = rows.at(-1)?.[0] ?? last;
    if (rows.length < PAGE) break;
  }
  if (keys === 0) throw new Error(`${file} holds no events.`);
  return events;
}
