import { EventStoreDbDeliveries } from '../../../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { EventStoreDbEventLog } from '../../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';

/** Receives events of deposits for the group `checker`, begins each and prints it on a line, and acknowledges none. */
const [connectionString = ''] = process.argv.slice(2);
const log = await EventStoreDbEventLog.open({ connectionString });
const deliveries = new EventStoreDbDeliveries(log, {
  connectionString,
  receivers: ['checker'],
});
for await (const delivery of deliveries.receive('checker', 'deposit-', new AbortController().signal)) {
  process.stdout.write(`${delivery.event.id} ${await delivery.begin('beside others')}\n`);
}
