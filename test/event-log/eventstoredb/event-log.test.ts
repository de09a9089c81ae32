import path from 'node:path';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { eventLogContract } from '../contract.ts';
import { appendFaults } from './append-faults.ts';
import { connectionFaults } from './connection-faults.ts';
import { subscriptionFaults } from './subscription-faults.ts';

/** URL of a real server for tests: events that they write stay there. */
const url = process.env['EVENTSTORE_URL'];

eventLogContract({
  durable: true,
  startsEmpty: url === undefined,
  place: async (t) => {
    if (url !== undefined) return { open: () => EventStoreDbEventLog.open({ connectionString: url }) };
    // The other tests of this file have the log of the double in memory.
    const double = await EventStoreDbDouble.start({
      file: path.join(await temporaryFolder(t), 'log.sqlite'),
    });
    t.teardown(() => double[Symbol.asyncDispose]());
    return { open: () => EventStoreDbEventLog.open({ connectionString: double.connectionString }) };
  },
});

appendFaults();
connectionFaults();
subscriptionFaults();
