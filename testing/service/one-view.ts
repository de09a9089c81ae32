import type { SeenEvent } from '../../src/event-log/event-log.ts';
import type { ViewSchema } from '../../src/views/projection.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';
import type { ViewFile } from '../../src/views/store/view-file.ts';
import type { View } from '../../src/views/view.ts';

/** A view file with a single view, for tests of the file. */
export type OneView = View<unknown> &
  Disposable & { readonly file: ViewFile; take(values: ReadonlyMap<string, unknown>, last: SeenEvent): void };

export function openOneView(path: string, schema: ViewSchema): OneView {
  const [file, { name }] = [openViewFile(path, 'memory', [schema]), schema];
  const view: OneView = {
    file,
    take: (values, last) => file.memory.take(new Map([[name, values]]), last),
    get: (key) => file.get(name, key),
    values: () => Iterator.from(file.table(name).rows()).map((row) => JSON.parse(row.view) as unknown),
    find: (query) => file.read(name, (table) => table.find(query)),
    candidateAt: (query, place) => file.read(name, (table) => table.candidateAt(query, place)),
    count: (query) => file.read(name, (table) => table.count(query)),
    counts: (equal) => file.read(name, (table) => table.counts(equal)),
    [Symbol.dispose]: () => file[Symbol.dispose](),
    settled: async () => view,
  };
  return view;
}
