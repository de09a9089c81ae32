import type { HttpModule } from '../../http/http-module.ts';
import type { Module } from '../module.ts';
import { EventStreams } from './event-streams.ts';
import { collectionEventsHandler, depositEventsHandler } from './events-handlers.ts';
import { sealedPositions } from './sealed-positions.ts';

/** Server-sent events about changes of status. */
export const statusEvents: Module = {
  name: 'status-events',
  async serve({ log, store, projector, notified }): Promise<HttpModule> {
    const positions = sealedPositions((await store.id()) ?? ''); // a node binds its store before it serves
    const { statuses } = notified;
    const streams = new EventStreams({ projector, statuses });
    return {
      name: 'status-events',
      routes: (parts) => {
        const options = { ...parts, log, statuses, streams, positions };
        return {
          collectionEvents: collectionEventsHandler(options),
          events: depositEventsHandler(options),
        };
      },
      stop: () => streams[Symbol.dispose](),
    };
  },
};
