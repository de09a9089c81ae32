import { setTimeout as pause } from 'node:timers/promises';
import { OutageSite } from './engines/outage-site.ts';
import { slowerThan } from './engines/slow-returns.ts';
import { type Finding, printProgress, runDrill, type Values } from './frame/drill.ts';

const HELP = `The leader of a cluster of three event log servers (the double of EventStoreDB) is cut off from the two others, again and
again, under load over two nodes for clients and two reactor nodes. Until it notices, for 0.4 s after another one leads, it
answers reads with old data. Requests have to be answered 201 or 503, the first 201 must come within 3 s of a new leader,
every deposit has to come to its end and every notification to arrive, in order.

  node drills/leader-partitioned.ts [--cuts 12] [--writers 4] [--main FILE]

--cuts N     how often the leader is cut off
--main FILE  the program of another release: src/main.ts of its checkout
`;

/** Time for which a leader that was cut off still answers, and the bounds of the time until another node leads. */
const [STALE_MS, SHORTEST_ELECTION_MS, LONGEST_ELECTION_MS] = [400, 300, 4000];

const OPTIONS = {
  cuts: { full: 12, short: 2 },
  writers: { full: 4, short: 3 },
  main: { type: 'string' },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ cuts, writers, main, short }: Values<typeof OPTIONS>): Promise<Finding> {
  const timeLimit = short ? 30_000 : 90_000;
  await using site = await OutageSite.start({
    name: 'partitioned',
    logArgs: ['--nodes', '3'],
    main,
    timeLimit,
  });
  const load = site.load(writers);
  const returns: number[] = [];
  for (let cut = 1; cut <= cuts; cut += 1) {
    await pause(short ? 2000 : 4000); // load without a fault
    const election = Math.round(
      SHORTEST_ELECTION_MS + Math.random() * ((short ? 1500 : LONGEST_ELECTION_MS) - SHORTEST_ELECTION_MS),
    );
    await site.engines.log.command(`partition ${STALE_MS} ${election}`);
    const leads = performance.now() - STALE_MS;
    returns.push(await site.firstSuccessAfter(leads));
    printProgress(
      `cut ${cut} of ${cuts}: another server led after ${election} ms, the first 201 came ${Math.round(returns.at(-1) ?? 0)} ms later; ${site.acknowledged} acknowledged`,
    );
  }
  await pause(1000);
  site.stopLoad();
  await load;
  const { broken, numbers } = await site.outcome();
  const slowest = Math.round(Math.max(...returns));
  return {
    tried: `The leader of three servers was cut off ${cuts} times under ${writers} writers, and answered reads with old data for ${STALE_MS} ms after another one led.`,
    held: `Every request was answered 201 or 503, the first 201 came ${slowest} ms after a new leader at the latest; each deposit was done, all ${numbers['notified']} notifications came, in order, ${numbers['notifications repeated']} of them again.`,
    broken: [...slowerThan(returns, 'a new leader'), ...broken],
    numbers: { cuts, 'first 201, longest, ms': slowest, ...numbers },
  };
}
