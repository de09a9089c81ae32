import type { ArchiveReader } from '../../archives/inspection.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { Reactor } from '../../reactors/reactor.ts';
import { TracedArchiveReader } from './traced-archive-reader.ts';
import { TracedEventLog } from './traced-event-log.ts';
import { TracedObjectStore } from './traced-object-store.ts';
import { TracedReactor } from './traced-reactor.ts';

/** Functions that wrap the parts of a service in spans, or return them unchanged. */
export type TracedParts = {
  readonly log: (log: EventLog) => EventLog;
  readonly store: (store: ObjectStore) => ObjectStore;
  readonly reader: (reader: ArchiveReader) => ArchiveReader;
  readonly reactor: (reactor: Reactor) => Reactor;
};

export function tracedParts(isOn: boolean): TracedParts {
  return {
    log: (log) => (isOn ? new TracedEventLog(log) : log),
    store: (store) => (isOn ? new TracedObjectStore(store) : store),
    reader: (reader) => (isOn ? new TracedArchiveReader(reader) : reader),
    reactor: (reactor) => (isOn ? new TracedReactor(reactor) : reactor),
  };
}
