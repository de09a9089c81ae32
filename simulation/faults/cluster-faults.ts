import type { QuorumLoss } from '../cluster/cluster.ts';
import type { Connection } from '../cluster/leadership.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import { defineFault } from './fault-definition.ts';

/** A share of leaders that do not recognise the repetition of an append that they could not replicate. */
const FORGETFUL = 0.5;

/** The leader dies; another one is elected and loads the group from its checkpoint. */
export const leaderKilled = defineFault<{ readonly election: number }>({
  draw: (random) => ({ election: random.between(100, 4000) }),
  begin: ({ election }, { cluster }) => cluster.killLeader(election),
  duration: ({ election }) => election,
});

/** The leader is cut off from the others, and serves a share of the clients for some time as if nothing had happened. */
export const partition = defineFault<{
  readonly election: number;
  readonly stale: number;
  readonly share: number;
  readonly salt: number;
  readonly forgets: boolean;
}>({
  draw: (random) => ({
    election: random.between(300, 4000),
    stale: random.between(50, 500),
    share: random.between(0.1, 0.7),
    salt: random.int(1 << 16),
    forgets: random.chance(FORGETFUL),
  }),
  begin: ({ election, stale, share, salt, forgets }, { cluster }) => {
    const random = new SeededRandom(salt, 'sides');
    const sides = new Map<Connection, boolean>();
    const staysWithOld = (connection: Connection): boolean =>
      sides.getOrInsertComputed(connection, () => random.chance(share));
    return cluster.partition({ election, stale, staysWithOld, forgets });
  },
  duration: ({ election, stale }) => election + stale,
});

/** Appends are not replicated. With `isKept` they are in the end, else they are lost with the leader. */
export const quorumLost = defineFault<QuorumLoss>({
  draw: (random) => ({
    time: random.between(1000, 25_000),
    isKept: random.chance(0.7),
    forgets: random.chance(FORGETFUL),
    endsAtRejection: random.chance(0.5),
  }),
  begin: (loss, { cluster }) => cluster.loseQuorum(loss),
  duration: ({ time }) => time + 2000,
});
