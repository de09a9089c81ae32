import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';

/*
 * node server-rules-discovery-process.ts <connection string> <stream>
 * Subscribes, prints "subscribed", then reads the stream again and again. Ends with the first rejection that no code
 * handles, and prints it.
 */
const [connectionString = '', stream = ''] = process.argv.slice(2);
process.on('unhandledRejection', (reason: Error) => {
  process.stdout.write(`unhandled: ${reason.message}\n`);
  process.exit(0);
});
const client = EventStoreDBClient.connectionString(connectionString);
const subscription = client.subscribeToAll({ requiresLeader: true });
subscription.on('error', () => undefined);
subscription.resume();
await once(subscription, 'confirmation');
process.stdout.write('subscribed\n');
for (const end = performance.now() + 20_000; performance.now() < end; await setTimeout(10)) {
  try {
    for await (const _ of client.readStream(stream, { requiresLeader: true }));
  } catch {
    // the next read looks for the cluster
  }
}
