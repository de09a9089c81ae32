import type { EventStoreDbDouble } from './eventstoredb-double.ts';
import type { Fault, FaultyCall } from './services/fault-switches.ts';
import type { DroppedHow } from './services/open-subscriptions.ts';
import { writeDump } from './storage/log-dump.ts';
import { scavenge } from './storage/scavenge.ts';

type Command = (double: EventStoreDbDouble, args: readonly string[]) => unknown;

/** The commands that take as long as the fault does, and leave the input free meanwhile. */
const LONG: Readonly<Record<string, Command>> = {
  'kill-leader': ({ clusterFaults }, [electionMs, returnMs]) =>
    clusterFaults.killLeader(known({ electionMs, returnMs })),
  partition: ({ clusterFaults }, [staleMs, electionMs]) =>
    clusterFaults.partition(known({ staleMs, electionMs })),
  pause: ({ clusterFaults }, [ms = '1000', electionMs]) =>
    clusterFaults.pauseLeader({ ms: Number(ms), ...known({ electionMs }) }),
  'lose-quorum': ({ clusterFaults }, [ms = '1000', fate = 'keep', resignMs]) =>
    clusterFaults.loseQuorum({
      ms: Number(ms),
      fate: fate === 'truncate' ? 'truncate' : 'keep',
      ...known({ resignMs }),
    }),
};

const SHORT: Readonly<Record<string, Command>> = {
  restart: (double) => double.restart(),
  stop: (double) => double.stop(),
  listen: (double) => double.listen(),
  drop: (double, how) => double.dropSubscriptions((how.join(' ') || 'error') as DroppedHow),
  clear: ({ faults }) => faults.clear(),
  'restart-subsystem': ({ groups }) => groups.restart(),
  gossip: ({ cluster }, [node, answer]) => {
    const named = cluster.nodes[Number(node) - 1];
    if (!named) throw new RangeError(`There is no node ${node}: nodes are counted from 1.`);
    named.answersGossip = answer !== 'off';
  },
  scavenge: ({ log }, [bytes]) => scavenge(log, bytes === undefined ? undefined : BigInt(bytes)),
  dump: ({ log }, [file = '']) => writeDump(log, file),
};

/** Runs one line of input. Resolves when it is done, or, for what takes long, has begun. */
export async function runLine(
  double: EventStoreDbDouble,
  line: string,
  reply: (text: string) => void,
): Promise<void> {
  const [name = '', ...args] = line.trim().split(/\s+/);
  const running = start(double, name, args, line)
    .then(() => reply(`done ${line}`))
    .catch((error: unknown) => reply(`failed ${line}: ${(error as Error).message}`));
  if (!(name in LONG)) await running;
}

async function start(
  double: EventStoreDbDouble,
  name: string,
  args: readonly string[],
  line: string,
): Promise<void> {
  const command = LONG[name] ?? SHORT[name];
  if (command) {
    await command(double, args);
    return;
  }
  const { call, fault, times } = JSON.parse(line) as { call: FaultyCall; fault: Fault; times?: number };
  double.faults.set(call, fault, times);
}

/** Returns the numbers that were given. */
function known<Name extends string>(
  texts: Readonly<Record<Name, string | undefined>>,
): Partial<Record<Name, number>> {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) as Partial<
    Record<Name, number>
  >;
}
