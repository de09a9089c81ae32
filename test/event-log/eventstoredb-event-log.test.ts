import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { eventLogContract } from './contract.ts';
import { appendFaults } from './eventstoredb-append-faults.ts';
import { connectionFaults } from './eventstoredb-connection-faults.ts';
import { subscriptionFaults } from './eventstoredb-subscription-faults.ts';

/** URL of a real server for tests: events that they write stay there. */
const url = process.env['EVENTSTORE_URL'];

eventLogContract({
  durable: true,
  startsEmpty: url === undefined,
  place: async (t) => {
    if (url !== undefined) return { open: () => EventStoreDbEventLog.open({ connectionString: url }) };
    const double = await EventStoreDbDouble.start();
    t.teardown(() => double[Symbol.asyncDispose]());
    return { open: () => EventStoreDbEventLog.open({ connectionString: double.connectionString }) };
  },
});

appendFaults();
connectionFaults();
subscriptionFaults();
