import type { HttpModule } from '../../http/http-module.ts';
import type { Module } from '../module.ts';
import { EventStreams } from './event-streams.ts';
import { collectionEventsIri, depositEventsIri } from './events-iri.ts';

/** Server-sent events about changes of status. */
export const statusEvents: Module = {
  name: 'status-events',
  async serve({ log, projector, notified }): Promise<HttpModule> {
    const streams = new EventStreams({ log, projector, statuses: notified.statuses });
    return {
      name: 'status-events',
      routes: ({ queries, credentials, language }) => {
        const options = { streams, credentials, language };
        return {
          collectionEvents: collectionEventsIri(options),
          events: depositEventsIri(queries, options),
        };
      },
      stop: () => streams[Symbol.dispose](),
    };
  },
};
