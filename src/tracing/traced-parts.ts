import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { ArchiveReader } from '../archives/inspection.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { TracedArchiveReader } from './traced-archive-reader.ts';
import { TracedArchiveStore } from './traced-archive-store.ts';
import { TracedEventLog } from './traced-event-log.ts';
import { TracedReactor } from './traced-reactor.ts';

/** What puts parts of a service into spans, or leaves them as they are. */
export type TracedParts = {
  readonly log: (log: EventLog) => EventLog;
  readonly store: (store: ArchiveStore) => ArchiveStore;
  readonly reader: (reader: ArchiveReader) => ArchiveReader;
  readonly reactor: (reactor: Reactor) => Reactor;
};

export function tracedParts(isOn: boolean): TracedParts {
  return {
    log: (log) => (isOn ? new TracedEventLog(log) : log),
    store: (store) => (isOn ? new TracedArchiveStore(store) : store),
    reader: (reader) => (isOn ? new TracedArchiveReader(reader) : reader),
    reactor: (reactor) => (isOn ? new TracedReactor(reactor) : reactor),
  };
}
