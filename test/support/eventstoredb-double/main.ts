import { createInterface } from 'node:readline';
import { EventStoreDbDouble } from './eventstoredb-double.ts';
import type { Fault, FaultyCall } from './fault-switches.ts';

/**
 * The double in a process of its own, so that several services can share it: `node main.ts [port]` prints its
 * port and serves until its input ends. A line of input is `restart`, `stop`, `listen`, `drop`, or a fault as JSON:
 * `{"call": "append", "fault": {"kind": "commit and hang"}, "times": 1}`.
 */
const double = await EventStoreDbDouble.start({ port: Number(process.argv[2] ?? 0) });
process.stdout.write(`${double.port}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'restart') await double.restart();
  else if (line === 'stop') double.stop();
  else if (line === 'listen') await double.listen();
  else if (line === 'drop') double.dropSubscriptions();
  else {
    const { call, fault, times } = JSON.parse(line) as { call: FaultyCall; fault: Fault; times?: number };
    double.faults.set(call, fault, times);
  }
}
await double[Symbol.asyncDispose]();
