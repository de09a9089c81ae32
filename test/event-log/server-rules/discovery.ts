import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { idsOf } from './clusters.ts';
import { rule, rulesDouble } from './server.ts';

const UNAVAILABLE = { kind: 'refuse', code: status.UNAVAILABLE } as const;
const CHILD = path.join(import.meta.dirname, 'discovery-process.ts');

/** Rules about how the client library looks for a cluster. */
export function discoveryRules(): void {
  rule(
    'double',
    'a node that accepts connections and does not answer gossip costs the client 5 seconds',
    async (t) => {
      const { double } = await rulesDouble(t, { nodes: 2 });
      for (const node of double.cluster.nodes) node.answersGossip = false;
      const begun = performance.now();
      await t.throwsAsync(read(`${double.connectionString}&maxDiscoverAttempts=1`), {
        message: 'Failed to discover after 1 attempts.',
      });
      const seconds = (performance.now() - begun) / 1000;
      t.true(seconds > 9 && seconds < 14, `${seconds} s for two nodes`);
    },
  );

  rule('double', 'the client library looks for a cluster ten times, then gives up', async (t) => {
    const { double } = await rulesDouble(t, { nodes: 2 });
    double.stop();
    await t.throwsAsync(read(double.connectionString), { message: 'Failed to discover after 10 attempts.' });
    await double.listen();
  });

  rule('double', 'the error handler of the client library leaves a rejected promise behind', async (t) => {
    const { server, double } = await rulesDouble(t, { nodes: 3 });
    await server.append(server.own('stream'));
    const child = spawn(process.execPath, [CHILD, double.connectionString, server.own('stream')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    while (!output.includes('subscribed')) await setTimeout(10);
    // One call fails and the next one searches for the cluster in vain; meanwhile a call on the old channel ends.
    double.faults.set('gossip', UNAVAILABLE, Number.POSITIVE_INFINITY);
    double.faults.set('read', UNAVAILABLE);
    await setTimeout(300);
    double.dropSubscriptions();
    await once(child, 'close');
    t.regex(output, /unhandled: Failed to discover after 10 attempts\./);
  });
}

async function read(connectionString: string): Promise<void> {
  const client = EventStoreDBClient.connectionString(connectionString);
  const server = { own: () => 'stream' } as unknown as Parameters<typeof idsOf>[1];
  await idsOf(client, server, { requiresLeader: true });
}
