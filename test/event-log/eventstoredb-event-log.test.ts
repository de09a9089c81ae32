import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { EventStoreDbDouble } from '../support/eventstoredb-double/eventstoredb-double.ts';
import { eventLogContract } from './contract.ts';
import { appendFaults } from './eventstoredb-append-faults.ts';
import { connectionFaults } from './eventstoredb-connection-faults.ts';
import { subscriptionFaults } from './eventstoredb-subscription-faults.ts';

/** A real server, which has to be one for tests: what is written there stays. */
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
