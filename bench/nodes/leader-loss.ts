import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LogProcess } from '../../drills/engines/log-process.ts';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';

const [NODES, ELECTION_MS] = [3, 1000];
/** Milliseconds from the first append to the loss of the leader. */
const BEFORE_MS = 300;

/** Appends one event after the other to a cluster, and kills its leader. The outage is the longest time without an answer. */
export const leaderLoss: Goal = {
  id: 'N4',
  what: `from the loss of the leader to the first acknowledged append, ${NODES} nodes, a leader after ${ELECTION_MS / 1000} s`,
  async measure(bench) {
    const found = await interleave(bench, 'N4', { outage });
    const ours = { name: 'event log on EventStoreDB', values: found.outage };
    return [{ what: 'on the double', unit: 's', ours, wanted: undefined }];
  },
};

async function outage(): Promise<number> {
  await using cluster = await LogProcess.start(['--nodes', String(NODES)]);
  await using log = await EventStoreDbEventLog.open({ connectionString: cluster.connectionString });
  const stream = `bench-${randomUUID()}`;
  let [revision, killed, isOver] = [-1, Infinity, false];
  void pause(BEFORE_MS).then(() => {
    killed = performance.now();
    void cluster.command(`kill-leader ${ELECTION_MS} 600000`); // never over: the cluster ends before
  });
  let longest = 0;
  while (!isOver) {
    const begun = performance.now();
    const event = { id: randomUUID(), type: 'Benched', data: {}, metadata: {} };
    ({ revision } = await log.append(stream, revision < 0 ? 'none' : revision, [event]));
    const now = performance.now();
    if (now > killed) longest = Math.max(longest, now - Math.max(begun, killed));
    isOver = longest > ELECTION_MS / 2;
  }
  return longest / 1000;
}
